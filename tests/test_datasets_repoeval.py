"""RepoEval: the published files, and archives that must not be trusted."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest

from chunkers.errors import UsageError
from chunkers.registry import CHUNKERS
from chunkers.splitting import chunk_file
from ground_truth.datasets.repoeval import Gold, RepoEval
from ground_truth.relevance import judge_chunker
from ground_truth.rules import parse_rule
from ground_truth.types import Dataset

FILE = 'import os\n\n\ndef add(a, b):\n    """Add two numbers."""\n    c = a + b\n    return c\n'


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def published() -> Path:
    """Return the folder of the real data, or skip."""
    root = Path(os.environ.get("CHUNKBENCH_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not (root / "repoeval").is_dir():
        pytest.skip(f"RepoEval's data is not in {root}")
    return root / "repoeval"


def task(**changes: object) -> str:
    """Return one task row."""
    meta = {
        "task_id": "o--r/idx", "ground_truth": "    c = a + b\n    return c\n", "fpath_tuple": ["o_r", "m.py"],
        "context_start_lineno": 0, "lineno": 5, "function_name": "add",
    }  # fmt: skip
    return json.dumps({"prompt": 'def add(a, b):\n    """Add two numbers."""\n', "metadata": {**meta, **changes}})


def make(folder: Path, *rows: str, members: dict[str, bytes] | None = None) -> Path:
    """Write a small RepoEval with an archive of the members."""
    folder.mkdir(exist_ok=True)
    (folder / "function_level_completion_2k_context_codex.test.jsonl").write_text("\n".join(rows) + "\n")
    with tarfile.open(folder / "repositories.tar.xz", "w:xz") as tar:
        for name, data in (members or {"o_r/m.py": FILE.encode()}).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return folder


def visible(dataset: Dataset) -> bytes:
    """Return the file as an index shows it: what is hidden is blank."""
    source = dataset.repositories[0].read("m.py")
    assert source is not None
    shown = bytearray(source.data)
    for span in dataset.hidden:
        shown[span.start_byte : span.end_byte] = b" " * (span.end_byte - span.start_byte)
    return bytes(shown)


@pytest.mark.parametrize(("gold", "lines"), [("prompt", (1, 6)), ("body", (6, 7)), ("function", (4, 7))])
def test_three_definitions_of_gold(tmp_path: Path, gold: Gold, lines: tuple[int, int]) -> None:
    """The prompt's lines with the first of the body, the body, or the whole function."""
    dataset = RepoEval(path=str(make(tmp_path / "d", task())), gold=gold).load()
    (note,) = dataset.annotations
    assert (note.start_line, note.end_line) == lines
    (query,) = dataset.queries
    assert (query.id, query.expected) == ("o_r/0", "    c = a + b\n    return c\n")
    assert (b"Add two" in visible(dataset)) == (gold != "function")
    assert query.text == "Add two numbers." if gold == "function" else query.text.startswith("def add")
    assert pickle.loads(pickle.dumps(dataset)).queries == dataset.queries  # noqa: S301 - made in the line itself


def test_masking_of_the_querys_own_lines_keeps_the_gold(tmp_path: Path) -> None:
    """With mask=query the prompt's lines are hidden, the body is not; it is refused where it would hide the gold."""
    folder = str(make(tmp_path / "d", task()))
    assert visible(RepoEval(path=folder, gold="body", mask="query").load()).split() == b"c = a + b return c".split()
    with pytest.raises(UsageError, match="would hide the gold"):
        RepoEval(path=folder, gold="prompt", mask="query")


def test_line_level_tasks_name_their_line_differently(tmp_path: Path) -> None:
    """Line and API level have line_no instead of lineno."""
    folder = make(tmp_path / "d", task())
    row = json.loads(task())
    row["metadata"] |= {"line_no": 5, "ground_truth": "    c = a + b"}
    (folder / "line_level_completion_2k_context_codex.test.jsonl").write_text(json.dumps(row))
    (note,) = RepoEval(path=str(folder), level="line").load().annotations
    assert (note.start_line, note.end_line) == (6, 6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lineno": 4}, "are not the task's ground_truth"),
        ({"fpath_tuple": ["o_r", "gone.py"]}, "is not there"),
        ({"fpath_tuple": "o_r"}, "repository and path were expected"),
        ({"lineno": -1}, "lineno is -1"),
        ({"ground_truth": None}, "ground_truth is missing"),
    ],
)
def test_a_task_that_does_not_fit_is_named_by_row(tmp_path: Path, changes: dict, words: str) -> None:
    """The message has the file, the row and the remedy."""
    with pytest.raises(UsageError, match=words) as caught:
        RepoEval(path=str(make(tmp_path / "d", task(), task(**changes)))).load()
    assert "test.jsonl:2" in str(caught.value)


def test_an_archive_with_climbing_paths_is_refused(tmp_path: Path) -> None:
    """Nothing is written outside, and nothing is left in the cache."""
    folder = make(tmp_path / "d", task(), members={"o_r/m.py": FILE.encode(), "../evil.py": b"x"})
    with pytest.raises(UsageError, match="leaves the archive's folder"):
        RepoEval(path=str(folder)).load()
    assert not list(tmp_path.rglob("evil.py"))
    assert not list((tmp_path / "cache" / "archives").iterdir())


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    """Half an archive is damaged, whatever it still holds, and no half of it stays."""
    folder = make(tmp_path / "d", task(), members={"o_r/m.py": FILE.encode(), "o_r/big.py": os.urandom(50_000)})
    archive = folder / "repositories.tar.xz"
    archive.write_bytes(archive.read_bytes()[:30_000])
    with pytest.raises(UsageError, match="damaged or truncated"):
        RepoEval(path=str(folder)).load()
    assert not list((tmp_path / "cache" / "archives").iterdir())


def test_where_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path the data folder is searched, and the error names the places."""
    monkeypatch.setenv("CHUNKBENCH_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=f"{tmp_path}/repoeval and data/repoeval"):
        RepoEval().load()
    make(tmp_path / "repoeval", task())
    assert len(RepoEval().load().queries) == 1


def test_all_published_tasks_load_and_golds_differ(published: Path) -> None:
    """455 tasks; the loader has compared every body with its file; the golds give different numbers of chunks."""
    found = {}
    for gold in ("prompt", "body", "function"):
        dataset = RepoEval(path=str(published), gold=gold).load()
        assert len(dataset.queries) == 455
        found[gold] = judge_chunker(parse_rule("any"), dataset, CHUNKERS.create("fixed-nws:size=1500")).report()
    means = {gold: report["relevant_per_query"]["mean"] for gold, report in found.items()}
    assert means["prompt"] > 2 > means["function"] > means["body"] > 1


def test_code_chunks_texts_are_those_of_the_stored_vectors(published: Path) -> None:
    """Six repositories, 373 prompts, and every chunk of fixed 1500 nws under its published key."""
    dataset = RepoEval(path=str(published), gold="prompt", repositories="6", newlines="code-chunk").load()
    keys = set(np.load(published / "text-embedding-3-small_1500nws.npz")["keys"].tolist())
    assert len(dataset.queries) == 373
    assert all(key(query.text.encode()) in keys for query in dataset.queries)
    chunker = CHUNKERS.create("fixed-nws:size=1500")
    for repository in dataset.repositories:
        for source in repository.files():
            for chunk in chunk_file(chunker, source):
                end = chunk.span.end_byte
                text = source.data[chunk.span.start_byte : end]
                assert key(text if end == len(source.data) else text.removesuffix(b"\n")) in keys


def key(text: bytes) -> str:
    """Return the published key of a text."""
    return hashlib.sha256(text).hexdigest()[:16]
