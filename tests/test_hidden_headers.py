"""Headers above chunks: what is hidden of a file is not shown by a header either."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import session_of

from chunkers.registry import CHUNKERS
from chunkers.sources import walk
from evaluation.experiment import stages
from evaluation.experiment.cases import CaseBuilder
from evaluation.experiment.chunk_table import ChunkTexts
from evaluation.experiment.qrels import qrels_of
from ground_truth.hidden import documentation
from ground_truth.hidden_lines import HiddenLines
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

ASKED = "Count retries until the quota of the caller is spent"
RUBY = f"""\
class Net
  def settings
    self.class.settings
  end

  # {ASKED}.
  # Says no then.
  def retry_all(limit)
    loop {{ send_one(limit) }}
  end

  def other(first, second)
    first + second
  end
end
"""


def hidden(text: str, *parts: str) -> np.ndarray:
    """Return the bytes of these parts of a text."""
    data = text.encode()
    return np.array(
        sorted((data.index(part.encode()), data.index(part.encode()) + len(part.encode())) for part in parts)
    )


def test_lines_that_a_header_repeats_are_left_out() -> None:
    """Whole lines, whatever their indentation; the visible part of a line; words that stand inside another line."""
    code = ("def a():", '    """Say what the first one does.', "", "    Then more of it.", '    """')
    text = "\n".join([*code, "    return 1  # the answer to all", ""])
    doc = text[text.index('"""') : text.rindex('"""') + 3]
    lines = HiddenLines(text.encode(), hidden(text, doc, "# the answer to all"))
    assert (
        lines.without('# ...\n"""Say what the first one does.\n    Then more of it.\n    return 1')
        == "# ...\n    return 1"
    )
    assert lines.without("return 1  # the answer to all") == "return 1"
    assert lines.without("# Doc: Say what the first one does (a)") == "# Doc:  (a)"
    assert lines.without("# path/a.py\n\n# Defines: a()") == "# path/a.py\n\n# Defines: a()"
    assert lines.without("") == ""


@settings(deadline=None)
@given(
    lines=st.lists(
        st.sampled_from(["a = b", "# one two three", "", "  c()", "x # four five six", "é = 'ü'"]), min_size=1
    ),
    edges=st.lists(st.integers(0, 80), max_size=6),
)
def test_a_header_of_lines_of_the_file_shows_what_is_visible_of_them(lines: list[str], edges: list[int]) -> None:
    """Every line of the file, as a header: a line of which bytes are hidden is shown without them, or not at all."""
    data = "\n".join(lines).encode()
    places = sorted({min(edge, len(data)) for edge in edges})
    ranges = np.array([(a, b) for a, b in zip(places[::2], places[1::2], strict=False) if a < b], dtype=np.int64)
    ranges = ranges.reshape(-1, 2)
    covered = np.zeros(len(data), dtype=bool)
    for start, end in ranges.tolist():
        covered[start:end] = True
    known = HiddenLines(data, ranges)
    at = 0
    expected: dict[str, str] = {}
    for line in data.split(b"\n"):
        marked = covered[at : at + len(line)]
        if marked.any():
            seen = bytes(byte for byte, is_hidden in zip(line, marked, strict=True) if not is_hidden)
            name, visible = line.decode().strip(), seen.decode("utf-8", "replace").strip()
            expected[name] = min(visible, expected.get(name, visible), key=len)
        at += len(line) + 1
    for name, visible in expected.items():
        if name:
            assert known.without(name) == visible
    said = [line for line in lines if line.strip() not in expected]
    if not len(ranges):
        assert known.without("\n".join(said)) == "\n".join(said)


def ruby(tmp_path: Path) -> Dataset:
    """Return a repository of one file whose comment is a query, and hidden."""
    (tmp_path / "net.rb").write_text(RUBY, "utf-8")
    folder = walk(tmp_path, name="net")
    begin = RUBY.index("# Count")
    span = HiddenSpan("net", "net.rb", begin, RUBY.index("  def retry_all") - 1)
    return Dataset(
        "net", (folder,), (Query("q", ASKED, "net"),), (Annotation("q", "net", "net.rb", 8, 10),), hidden=(span,)
    )


@pytest.mark.parametrize("spec", ["code-chunk:size=100", "code-chunk:size=60,overlap=3", "cast:size=40,header=scope"])
def test_no_index_text_and_no_cost_has_what_is_hidden(tmp_path: Path, spec: str) -> None:
    """The header repeats lines of the chunk before; the text of the file is as it was, and costs what is shown."""
    dataset = ruby(tmp_path)
    session = session_of(dataset, tmp_path / "cache", chunkers=(spec,), retrievers=("bm25",))
    (cell,) = session.cells
    loaded, chunks = session.dataset(cell.dataset), stages.chunk(session, cell.dataset, spec)
    if "code-chunk" in spec:
        assert any(ASKED in header for header in chunks.headers)
    texts = list(ChunkTexts(chunks, range(len(chunks)), loaded))
    assert not any("retries" in text or "quota" in text or "Says no" in text for text in texts)
    assert any("def retry_all(limit)" in text for text in texts)
    assert stages.retrieve(session, cell).ranking == {"q": []}
    builder = CaseBuilder(
        loaded, chunks, qrels_of(session.rule, loaded, chunks), needs={"text", "space"}, units={"tokens"},
        embed=lambda _: np.zeros((0, 0), np.float32), depth=10,
    )  # fmt: skip
    (case,) = builder.cases(dataset.queries, {"q": []})
    shown = [chunks.header(row, loaded) for row in range(len(chunks))]
    longer = [len(header) > len(seen) for header, seen in zip(chunks.headers, shown, strict=True)]
    assert any(longer) is ("code-chunk" in spec)
    assert case.space is not None


@pytest.mark.parametrize("name", sorted({*CHUNKERS.builtin} - {"chunkhound"}))  # it needs an environment of its own
def test_no_chunker_shows_documentation_in_a_header(name: str) -> None:
    """Over our own code with all documentation hidden: no header holds a hidden line."""
    root = Path(__file__).parents[1] / "chunkers"
    folder = walk(root, name="code")
    chosen = [
        source for source in folder.files() if source.path in {"cast.py", "windows.py", "sources.py", "registry.py"}
    ]
    spans = [span for span in documentation([folder], comments=True) if span.path in {each.path for each in chosen}]
    chunker = CHUNKERS.create(name)
    for source in chosen:
        ranges = np.array(sorted((start, end) for _, path, start, end in spans if path == source.path))
        lines = HiddenLines(source.data, ranges)
        said = [source.data[start:end].decode().strip().splitlines()[0].strip('#" ') for start, end in ranges.tolist()]
        for piece in chunker.split(source):
            shown = lines.without(piece.header)
            assert not any(words in shown for words in said if len(words.split()) > 3)
