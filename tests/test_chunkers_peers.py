"""Adapters to other projects: alignment, the process beside us, and the oracle for cast."""

from __future__ import annotations

import importlib
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.cast import Cast
from chunkers.coverage import coverage_of
from chunkers.errors import MissingExtraError, UsageError
from chunkers.peers.alignment import located, runs
from chunkers.peers.environment import CHUNKHOUND, Environment, MissingEnvironmentError, Worker
from chunkers.registry import CHUNKERS
from chunkers.sizes import nws_before
from chunkers.types import Piece, SourceFile

STDLIB = Path(sysconfig.get_paths()["stdlib"])


@given(data=st.binary(min_size=1, max_size=60), cuts=st.lists(st.integers(0, 60)))
def test_texts_that_tile_a_file_are_found_where_they_are(data: bytes, cuts: list[int]) -> None:
    """Text that occurs more than once is found in the order of the file."""
    edges = sorted({0, len(data), *(cut for cut in cuts if cut <= len(data))})
    parts = list(map(Piece, edges, edges[1:]))
    texts = [data[part.start : part.end] for part in parts]
    found = located(data, texts)
    assert {data[piece.start : piece.end] for piece in found} == {text for text in texts if text.strip()}
    if all(text.strip() for text in texts):
        assert found == parts


def test_a_text_that_is_not_in_the_file_is_left_out() -> None:
    """A rewritten chunk is lost, not guessed."""
    assert located(b"one two", [b"one", b"three", b"two"]) == [Piece(0, 3), Piece(4, 7)]


def test_a_text_put_together_from_lines_is_found_by_lines() -> None:
    """Each line is found after the one before it, whatever its indentation."""
    assert runs(b"a\n  b\nc\nb\n", b"a\nc\nb", begin=0) == [Piece(0, 1), Piece(6, 7), Piece(8, 9)]
    assert runs(b"a\nb\n", b"a\nb", begin=0) == [Piece(0, 3)]


@pytest.mark.parametrize("name", [name for name, entry in CHUNKERS.entries().items() if entry.extra == "peers"])
def test_a_missing_library_is_exit_4_and_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is not installed, the message says what to install, in one line."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path))
    module = CHUNKERS.entries()[name].target.partition(":")[0]
    for package in (
        "astchunk",
        "chonkie",
        "cocoindex",
        "langchain_text_splitters",
        "llama_index",
        "semantic_text_splitter",
    ):
        for loaded in [key for key in sys.modules if key.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    importlib.import_module("chunkers.peers.environment").worker.cache_clear()
    with pytest.raises(MissingExtraError) as raised:
        CHUNKERS.create(name)
    assert raised.value.exit_code == 4
    assert "chunkbench[peers]" in str(raised.value) or "scripts.setup_peers" in str(raised.value)
    monkeypatch.delitem(sys.modules, module, raising=False)


def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Environment:
    """Return an environment whose interpreter is this one and whose worker is the script."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path))
    file = tmp_path / "worker.py"
    file.write_text(script)
    environment = Environment("here", (), str(file))
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(sys.executable)
    return environment


def test_a_worker_answers_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One question, one answer, over and over, until it is closed."""
    echo = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin: print(line.strip(), flush=True)\n"
    worker = Worker(_here(tmp_path, monkeypatch, echo))
    assert worker.ask({"text": "é\n"}) == {"text": "é\n"}
    assert worker.ask({"n": 2}) == {"n": 2}
    worker.close()


def test_a_worker_that_dies_is_an_answer_and_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that takes its process down loses one file, not the run."""
    worker = Worker(_here(tmp_path, monkeypatch, "print('ready', flush=True)\ninput()\n"))
    assert "error" in worker.ask({})
    assert "error" in worker.ask({})
    worker.close()


def test_a_worker_that_cannot_start_says_how_to_see_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken environment is not taken for a library that finds nothing."""
    worker = Worker(_here(tmp_path, monkeypatch, "raise SystemExit(3)\n"))
    with pytest.raises(UsageError, match="does not start"):
        worker.ask({})


def test_a_missing_environment_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before set-up, the message is what to type."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path))
    with pytest.raises(MissingEnvironmentError, match=r"python -m scripts.setup_peers chunkhound"):
        Worker(CHUNKHOUND)


def test_cast_cuts_where_its_authors_do() -> None:
    """On standard-library files that astchunk keeps whole, boundaries are the same.

    astchunk counts the bytes of a character, the paper and this project count characters, so only ASCII files are
    compared. Whitespace between chunks may go to either side: boundaries are compared by the text before them.
    """
    pytest.importorskip("astchunk", reason="the extra `peers` is not installed")
    oracle, ours = CHUNKERS.create("astchunk:size=1000"), Cast(size=1000)
    compared = 0
    for path in sorted(STDLIB.glob("*.py"))[::4]:
        source = SourceFile(path.name, path.read_bytes(), "python")
        pieces = oracle.split(source)
        covered = coverage_of(oracle, source, pieces)
        if covered.lost or covered.doubled or not source.data.isascii():
            continue
        counts = nws_before(source.data)
        assert [counts[piece.start] for piece in ours.split(source)] == [counts[piece.start] for piece in pieces], path
        compared += 1
    assert compared >= 10


def test_langchain_with_overlap_stands_where_the_library_says() -> None:
    """Text that repeats itself is not taken for the chunk before: nothing is lost, the overlap is doubled."""
    data = "def größe(self):\n    return None\n\n".encode() * 200
    source = SourceFile("a.py", data, "python")
    chunker = CHUNKERS.create("langchain:size=200,overlap=50")
    pieces = chunker.split(source)
    covered = coverage_of(chunker, source, pieces)
    assert len(pieces) > 30
    assert covered.lost == 0
    assert 0 < covered.doubled < nws_before(data)[-1] / 2
    assert all(data[piece.start : piece.end].decode().startswith("def") for piece in pieces)
