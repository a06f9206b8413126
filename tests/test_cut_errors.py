"""A chunker that fails on one file: whatever command cuts it names the file and goes on with the others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Command

from chunkers.cut_errors import CutError, FailedFiles
from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.size_matching import matched, mean_size, with_limit
from chunkers.sizes import ruler
from chunkers.types import Piece, SizeLimit, SourceFile

CHOOSY = """
import sys
from dataclasses import dataclass

from chunkers.fixed_lines import FixedLines
from chunkers.types import Piece


@dataclass(frozen=True, kw_only=True)
class Choosy(FixedLines):
    how: str = "raise"
    on: str = "bolt.py"

    def split(self, source):
        if not source.path.endswith(self.on):
            return super().split(source)
        if self.how == "exit":
            sys.exit(0)
        if self.how == "misfit":
            return [Piece(0, 10**9)]
        raise RuntimeError("no bolts,\\nplease")

    def fallback(self, source):
        if self.how == "fallback" and source.path == "bolt.py":
            raise KeyError("why")
"""
REASONS = {
    "raise": "RuntimeError: no bolts, please",
    "exit": "SystemExit: 0",
    "misfit": "ValueError: a piece from byte 0 to 1000000000 is not in a file of",
}


@dataclass(frozen=True, kw_only=True)
class Picky(FixedLines):
    """Fails on files of some names, and takes no limit that is odd."""

    on: str = "b"

    def __post_init__(self) -> None:
        """Refuse an odd limit as somebody does who does not know UsageError."""
        if self.lines % 2:
            raise RuntimeError("odd")

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces."""
        if self.on in source.path:
            raise RuntimeError("no b")
        return super().split(source)


@pytest.fixture
def choosy(tmp_path: Path) -> str:
    """Return the target of a chunker that fails on one file in a way of its own."""
    (tmp_path / "choosy.py").write_text(CHOOSY)
    return f"{tmp_path / 'choosy.py'}:Choosy"


@pytest.mark.parametrize("how", REASONS)
@pytest.mark.parametrize("form", [(), ("--stats",), ("--json",), ("--stats", "--json")])
def test_chunk_names_the_file_and_shows_the_others(
    chunkbench: Command, repository: Path, choosy: str, how: str, form: tuple[str, ...]
) -> None:
    """One line on stderr has the count, the file and the reason; the exit code is 1."""
    spec = f"{choosy},how={how},lines=5"
    done = chunkbench("chunk", repository, "--chunker", spec, *form)
    assert done.code == 1
    (said,) = done.err.splitlines()
    assert said.startswith(f"chunkbench: {spec} failed on 1 file: code/bolt.py ({REASONS[how]}")
    if form == ("--json",):
        assert len({json.loads(row)["path"] for row in done.out.splitlines()}) == 7
    if form == ("--stats", "--json"):
        assert done.json["files"] == 8
        assert list(done.json["failed_files"]) == ["code/bolt.py"]
        assert done.json["lost"] > 0


def test_a_file_that_is_shown_alone_says_that_it_failed(chunkbench: Command, repository: Path, choosy: str) -> None:
    """Beside it stands what another chunker makes of it."""
    done = chunkbench("chunk", repository / "bolt.py", "--chunker", choosy, "--chunker", "whole-file")
    assert done.code == 1
    assert "1 chunk" in done.out
    assert "failed" in done.out
    assert done.err == f"chunkbench: {choosy} failed on 1 file: bolt.py (RuntimeError: no bolts, please)\n"


@pytest.mark.parametrize("how", REASONS)
def test_qrels_are_of_the_files_that_could_be_cut(
    chunkbench: Command, repository: Path, tmp_path: Path, choosy: str, how: str
) -> None:
    """A query whose gold is in the other file has no relevant chunk, and the JSON names the file."""
    dataset = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    done = chunkbench("qrels", "--dataset", dataset, "--chunker", f"{choosy},how={how},lines=5", "--json")
    assert done.code == 1
    assert f"failed on 1 file: code/bolt.py ({REASONS[how]}" in done.err
    assert list(done.json["failed_files"]) == ["code/bolt.py"]
    assert done.json["uncovered"] == ["bolt0", "bolt1"]


@pytest.mark.parametrize("how", REASONS)
def test_sizes_are_matched_on_the_files_that_could_be_cut(
    chunkbench: Command, repository: Path, tmp_path: Path, choosy: str, how: str
) -> None:
    """The chunker keeps its row, and the file is named as in any comparison; `chunk` chooses the same limit."""
    spec = f"{choosy},how={how}"
    more = ("--chunker", spec, "--chunker", "fixed-lines", "--match-size", "lines=1")
    gold = ("--annotations", tmp_path / "gold.jsonl")
    done = chunkbench(
        *("compare", repository, *gold, *more, "--retriever", "bm25", "--embedder", "hashing", "--engine", "serial"),
        *("--out", tmp_path / "out", "--json"),
    )
    assert done.code == 0, done.err
    choosing, usual = done.json["cells"]
    assert choosing["chunker"].removeprefix(spec) == usual["chunker"].replace("fixed-lines:", ",")
    assert list(choosing["chunks"]["failed_files"]) == ["code/bolt.py"]
    shown = chunkbench("chunk", repository, *more, "--json")
    assert (shown.code, f"{spec}: lines=1 gives a mean of" in shown.err) == (1, True)


def test_a_chunker_that_can_cut_nothing_is_not_matched(
    chunkbench: Command, repository: Path, tmp_path: Path, choosy: str
) -> None:
    """One line names the first file: where others are compared it is left out, and as the target it is an error."""
    spec, gold = f"{choosy},on=.py", ("--annotations", tmp_path / "gold.jsonl")
    compare = ("compare", repository, *gold, "--retriever", "bm25", "--embedder", "hashing", "--engine", "serial")
    reason = "failed on each of the 8 files; on code/apple.py: RuntimeError: no bolts, please"
    others = ("--chunker", spec, "--chunker", "fixed-lines", "--match-size", "lines=1")
    done = chunkbench(*compare, "--out", tmp_path / "out", *others)
    assert (done.code, f"left out: {spec} {reason}" in done.err) == (0, True)
    for target in (("--chunker", spec, "--match-size", "lines=1"), ("--chunker", "cast", "--match-size", spec)):
        done = chunkbench(*compare, "--out", tmp_path / "out2", *target)
        assert (done.code, done.err) == (2, f"chunkbench: {spec} {reason}\n")
    done = chunkbench("chunk", repository, "--chunker", spec, "--match-size", "lines=1")
    assert done.code == 2
    assert "failed on each of the 8 files; on apple.py: RuntimeError: no bolts, please" in done.err


def test_a_question_about_a_file_may_fail_too(
    chunkbench: Command, repository: Path, tmp_path: Path, choosy: str
) -> None:
    """A chunker that raises where it is asked why it fell back has failed on that file, and on no other."""
    done = chunkbench(
        *("compare", repository, "--annotations", tmp_path / "gold.jsonl", "--retriever", "bm25", "--engine", "serial"),
        *("--chunker", f"{choosy},how=fallback,on=none", "--embedder", "hashing", "--out", tmp_path / "out", "--json"),
    )
    assert done.code == 0, done.err
    assert done.json["cells"][0]["chunks"]["failed_files"] == {"code/bolt.py": "KeyError: 'why'"}


def test_a_mean_size_is_of_the_files_that_can_be_cut() -> None:
    """Where none can, the reason names the first; a limit that is not taken is one that cannot be chosen."""
    files = [SourceFile(name, b"x\n" * 8) for name in ("a", "b", "c")]
    rulers = [ruler(file.data, "lines") for file in files]
    assert mean_size(Picky(lines=4), files, rulers) == 4
    with pytest.raises(CutError, match="failed on the only file; on b: RuntimeError: no b"):
        mean_size(Picky(lines=4), files[1:2], rulers[1:2])
    with pytest.raises(UsageError, match="lines=3: RuntimeError: odd"):
        with_limit(Picky(lines=4), 3)
    assert matched("picky", files, SizeLimit("lines", 4), chunker=Picky(lines=2)).chosen == 4


def test_a_piece_that_is_given_twice_is_measured_once() -> None:
    """It makes one chunk, so that it is one in the mean as well."""

    @dataclass(frozen=True, kw_only=True)
    class Twice(FixedLines):
        def split(self, source: SourceFile) -> list[Piece]:
            pieces = super().split(source)
            return [*pieces, pieces[0]]

    source = SourceFile("a", b"x\n" * 9)
    assert mean_size(Twice(lines=6), [source], [ruler(source.data, "lines")]) == 9 / 2


def test_a_chunker_that_takes_no_limit_is_refused_in_one_line() -> None:
    """Whatever limit is tried, its class refuses it."""

    @dataclass(frozen=True, kw_only=True)
    class Fixed(FixedLines):
        def __post_init__(self) -> None:
            if self.lines != 50:
                raise UsageError("50 lines it is")

    source = SourceFile("a", b"x\n" * 8)
    with pytest.raises(UsageError, match="fixed takes no limit: 50 lines it is"):
        matched("fixed", [source], SizeLimit("lines", 4), chunker=Fixed())


def test_what_the_user_must_correct_is_no_failed_file() -> None:
    """It is raised, and so is an interruption; a file is named below its repository."""
    failed = FailedFiles()
    source = SourceFile("a.py", b"x\n", repo="r")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    def refuse(*_: object) -> None:
        raise UsageError("write it otherwise")

    for work, error in ((stop, KeyboardInterrupt), (refuse, UsageError)):
        with pytest.raises(error):
            failed.attempt(work, FixedLines(), source)
    assert failed.reasons == {}
    assert failed.chunks(Picky(lines=2, on="a"), source) == []
    assert failed.reasons == {"r/a.py": "RuntimeError: no b"}
