"""Hidden text: cut with its file, and left out of what is indexed, read, judged and searched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st

from chunkers.sources import walk
from evaluation.config import make_config
from evaluation.experiment import stages
from evaluation.experiment.file_rulers import VisibleBytes, file_rulers
from evaluation.experiment.session import Session
from evaluation.experiment.visible_chunks import searchable_rows, visible_sizes
from ground_truth.datasets.in_memory import InMemory
from ground_truth.hidden import HiddenText, blanked, inside, visible_text
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=6)
DATA = b"one two\nthree\n\nfour five six\nseven eight nine ten\n"


def ranges(spans: list[tuple[int, int]], size: int) -> np.ndarray:
    """Return hidden bytes as the dataset would hold them."""
    found = [HiddenSpan("r", "a", start, min(start + length, size)) for start, length in spans if start < size]
    return HiddenText(found).ranges("r", "a")


@given(spans=SPANS, start=st.integers(0, 50), length=st.integers(0, 50))
def test_what_is_visible_is_what_is_not_hidden(spans: list[tuple[int, int]], start: int, length: int) -> None:
    """Byte by byte: text, flags, blanks and counts agree with the definition."""
    hidden = {byte for first, many in spans for byte in range(first, first + many)}
    found, end = ranges(spans, len(DATA)), min(start + length, len(DATA))
    expected = bytes(DATA[byte] for byte in range(start, end) if byte not in hidden)
    assert visible_text(DATA, found, start, end) == expected
    offsets = np.arange(len(DATA))
    assert inside(found, offsets).tolist() == [byte in hidden for byte in range(len(DATA))]
    blank = bytes(32 if byte in hidden and each not in b"\r\n" else each for byte, each in enumerate(DATA))
    assert blanked(DATA, found) == blank
    before = [sum(other not in hidden for other in range(byte)) for byte in range(len(DATA) + 1)]
    assert VisibleBytes(found).at(np.arange(len(DATA) + 1)).tolist() == before


def session(tmp_path: Path, spans: list[tuple[int, int]], *chunkers: str) -> Session:
    """Return a session over one file in which these bytes are hidden."""
    folder = tmp_path / "code"
    folder.mkdir(exist_ok=True)
    (folder / "a.py").write_bytes(DATA)
    hidden = tuple(HiddenSpan("code", "a.py", start, end) for start, end in spans)
    notes = (Annotation("q", "code", "a.py", 1, 5),)
    dataset = Dataset("d", (walk(folder, name="code"),), (Query("q", "eight", "code"),), notes, hidden=hidden)
    config = make_config({"datasets": ["d"], "chunkers": chunkers, "retrievers": ["bm25"]})
    return Session(config, tmp_path / "cache", plugins={"d": InMemory(dataset=dataset)})


def test_hidden_text_changes_no_chunk_and_no_chunk_key(tmp_path: Path) -> None:
    """Masked and unmasked runs share their chunk tables, so sizes cannot differ; their rankings are kept apart."""
    plain, masked = (session(tmp_path, spans, "fixed-lines:lines=2") for spans in ([], [(0, 7)]))
    assert plain.chunk_key("d", "fixed-lines:lines=2") == masked.chunk_key("d", "fixed-lines:lines=2")
    assert plain.retrieve_key(plain.cells[0]).digest != masked.retrieve_key(masked.cells[0]).digest
    assert (
        stages.chunk(plain, "d", "fixed-lines:lines=2").facts == stages.chunk(masked, "d", "fixed-lines:lines=2").facts
    )


def test_a_chunk_with_nothing_visible_cannot_be_found_and_is_counted(tmp_path: Path) -> None:
    """It is in no ranking, however deep, and the facts of the search count it."""
    made = session(tmp_path, [(0, 14)], "fixed-lines:lines=2")
    table = stages.chunk(made, "d", "fixed-lines:lines=2")
    assert searchable_rows(made.dataset("d"), table)["code"].tolist() == [1, 2]
    found = stages.retrieve(made, made.cells[0])
    assert found.facts.hidden_chunks == 1
    assert 0 not in {hit.position for hit in found.ranking["q"]}


@pytest.mark.parametrize("unit", ["nws", "tokens", "lines"])
@given(spans=SPANS)
def test_rulers_and_sizes_leave_hidden_units_out(
    tmp_path_factory: pytest.TempPathFactory, unit: Any, spans: list[tuple[int, int]]
) -> None:
    """A unit that begins in hidden text counts neither in the file nor in a chunk."""
    found = [(start, min(start + length, len(DATA))) for start, length in spans if length and start < len(DATA)]
    made = session(tmp_path_factory.mktemp("hidden"), found, "fixed-lines:lines=1")
    loaded, table = made.dataset("d"), stages.chunk(made, "d", "fixed-lines:lines=1")
    starts = loaded.ruler(table.files[0], unit).starts
    hidden = {byte for start, end in found for byte in range(start, end)}
    seen = [start for start in starts.tolist() if start not in hidden]
    ruler = file_rulers(table, unit, loaded)[0]
    expected = [sum(start < offset for start in seen) for offset in range(len(DATA) + 1)]
    assert [int(ruler.at(np.array([offset]))[0]) for offset in range(len(DATA) + 1)] == expected
    if unit != "lines":
        bounds = zip(table.columns["start"].tolist(), table.columns["end"].tolist(), strict=True)
        assert visible_sizes(loaded, table, unit).tolist() == [expected[end] - expected[start] for start, end in bounds]


def test_no_index_shows_the_docstring_that_asks(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """A word that stands in a docstring alone finds nothing by words once the docstring is hidden."""
    file = repository / "apple.py"
    file.write_text(
        file.read_text().replace("Return a new apple.", "Return a new apple, quizzically made from nothing.")
    )
    rows = (tmp_path / "gold.jsonl").read_text().replace("make a new apple of a colour", "quizzically")
    hidden = tmp_path / "hidden.jsonl"
    hidden.write_text(rows.replace('"relevance": 1}', '"relevance": 1, "mask": "docstrings"}'))
    (tmp_path / "plain.jsonl").write_text(rows)
    means = []
    for name in ("plain", "hidden"):
        options = ["--chunker", "fixed-lines:lines=5", "--retriever", "bm25", "--out", tmp_path / name]
        assert chunkbench("compare", repository, "--annotations", tmp_path / f"{name}.jsonl", *options).code == 0
        from evaluation.results.folder import read_results

        results = read_results(tmp_path / name)
        place = [query.id for query in results.queries].index("apple0")
        means.append(results.cells[0].scores["ndcg@10"][place])
    assert means[0] > means[1] == 0
