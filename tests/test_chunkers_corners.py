"""Where chunkers, walks, sizes and specs turn: the last value that is taken and the first that is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from test_chunkers_oracles import SMALL, tree_starts

from chunkers.cast import Cast
from chunkers.code_chunk import CodeChunk
from chunkers.contract import check_chunker, file_problems
from chunkers.errors import UsageError
from chunkers.fixed_tokens import character_start
from chunkers.headers import with_header
from chunkers.listing import unfit_path
from chunkers.plain_text import csv_cell, one_line, shown
from chunkers.registry import CHUNKERS
from chunkers.size_matching import match_by
from chunkers.sizes import nws
from chunkers.sources import read_many, unfit_content, walk
from chunkers.types import Piece, SizeLimit, SizeUnit, SourceFile


@dataclass(frozen=True, kw_only=True)
class Given:
    """Cuts as it is told."""

    pieces: tuple[tuple[int, int], ...]
    limit: SizeLimit | None = None
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True

    def split(self, source: SourceFile) -> list[Piece]:  # noqa: ARG002 - the same for every file
        """Return the pieces."""
        return [Piece(*piece) for piece in self.pieces]


@dataclass(frozen=True, kw_only=True)
class Lossy(Given):
    """Does so without the promise to leave nothing out."""

    lossless: ClassVar[bool] = False


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([(0, 10)], []),
        ([(0, 4), (4, 10)], []),
        ([(0, 4), (0, 10)], []),
        ([(0, 6), (4, 10)], []),
        ([(0, 4), (5, 10)], ["bytes 4 to 5 are in no piece"]),
        ([(0, 9)], ["bytes 9 to 10 are in no piece"]),
        ([(1, 10)], ["bytes 0 to 1 are in no piece"]),
        ([(0, 10), (0, 10), (2, 3)], ["the piece from 0 to 10 is there 2 times, and makes one chunk"]),
        ([(4, 10), (0, 5)], ["a piece begins before the one above it", "bytes 0 to 4 are in no piece"]),
        ([(0, 10), (4, 4)], ["a piece from 4 to 4 of 10 bytes"]),
        ([], ["bytes 0 to 10 are in no piece", "no chunk at all"]),
    ],
)
def test_what_a_file_shows_of_a_chunker(pieces: list[tuple[int, int]], said: list[str]) -> None:
    """Every promise that is broken and no other; pieces may overlap, and hold what others hold."""
    source = SourceFile("a.py", b"ab\ncd\nefg\n", "python")
    found = [problem.split(": ", 2)[-1] for problem in file_problems(Given(pieces=tuple(pieces)), source)]
    assert found == said
    lossy = Lossy(pieces=tuple(pieces))
    kept = [text for text in said if "in no piece" not in text and text != "no chunk at all"]
    assert [problem.split(": ", 2)[-1] for problem in file_problems(lossy, source)] == kept


def test_a_chunk_may_be_as_large_as_its_limit() -> None:
    """One unit more is told with the sizes; a limit of nothing is none."""
    source = SourceFile("a.py", b"ab\ncd\nefg\n", "python")
    sizes: dict[SizeUnit, int] = {"nws": 7, "lines": 3}
    for unit, size in sizes.items():
        for amount, broken in ((size, False), (size - 1, True), (size + 1, False)):
            chunker = Given(pieces=((0, 10),), limit=SizeLimit(unit, amount))
            said = [problem for problem in file_problems(chunker, source) if "the limit being" in problem]
            assert bool(said) is broken
            if broken:
                assert f"a chunk of {size} {unit}, the limit being {amount}" in said[0]
    rule = "version, lossless and limit say what they should"
    for limit, sound in ((SizeLimit("nws", 1), True), (SizeLimit("nws", 0), False), (5, False), (None, True)):
        found = {each.rule: each.problem for each in check_chunker(Given(pieces=(), limit=limit))}  # type: ignore[arg-type] # wrong on purpose
        assert (found[rule] == "") is sound


@pytest.mark.parametrize("source", SMALL[:6], ids=lambda source: source.path)
@pytest.mark.parametrize("overlap", [1, 2, 5])
def test_overlapping_chunks_hold_whole_neighbours(source: SourceFile, overlap: int) -> None:
    """Each reaches into both neighbours and no further, more with a larger overlap, and its own part is kept."""
    plain = Cast(size=60).split(source)
    wide, wider = (Cast(size=60, overlap=count).split(source) for count in (overlap, overlap + 1))
    assert [piece.start for piece in plain] == sorted(set(tree_starts(source, 60, merge=True)))
    assert len(wide) == len(plain)
    for index, (own, piece, more) in enumerate(zip(plain, wide, wider, strict=True)):
        before = plain[index - 1] if index else own
        after = plain[index + 1] if index + 1 < len(plain) else own
        assert before.start <= more.start <= piece.start <= own.start
        assert own.end <= piece.end <= more.end <= after.end
        assert (piece.start < own.start) is (index > 0)
        assert (piece.end > own.end) is (index + 1 < len(plain))
        assert nws(source.data[piece.start : own.start]) > 0 or index == 0
        assert nws(source.data[own.end : piece.end]) > 0 or index + 1 == len(plain)


FUNCTIONS = b"".join(b"def f%d():\n    return %d\n\n\n" % (n, n) for n in range(9))


def test_a_header_names_three_neighbours_ten_imports_and_three_folders() -> None:
    """On either side of the chunk, in order; fewer where there are fewer."""
    imports = b"".join(b"import m%d\n" % n for n in range(12)) + b"\n\n"
    source = SourceFile("a/b/c/d.py", imports + FUNCTIONS, "python")
    pieces = CodeChunk(size=16, overlap=2).split(source)
    heads = {
        piece.header.split("Defines: ")[1].split("\n")[0]: piece.header for piece in pieces if "Defines" in piece.header
    }
    middle = heads["def f4()"].split("\n")
    assert middle[0] == "# b/c/d.py"
    assert "# Uses: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9" in middle
    assert "# After: f1, f2, f3" in middle
    assert "# Before: f5, f6, f7" in middle
    assert "# After" not in heads["def f0()"]
    assert "# After: f0\n" in heads["def f1()"] + "\n"
    assert "# Before" not in heads["def f8()"]
    assert "# Before: f8" in heads["def f7()"].split("\n")
    assert middle[-4:] == ["# ...", "", "", "# ---"]
    assert "# ..." not in CodeChunk(size=16, overlap=0).split(source)[-1].header


def test_scopes_end_where_definitions_end() -> None:
    """A chunk that begins with a definition is not inside it; one that begins after its end neither."""
    data = b"class A:\n    def f(self):\n        x = 1\n        y = 2\n\n\nz = 3\n"
    chunker = with_header(CHUNKERS.create("fixed-lines:lines=1"), "scope")
    heads = [piece.header.split("\n")[1:] for piece in chunker.split(SourceFile("a.py", data, "python"))]
    inner = ["class A", "    def f(self)"]
    assert heads[:4] == [[], ["class A"], inner, inner]
    assert heads[-1] == []


@pytest.mark.parametrize("limit", [1, 5, 80])
def test_a_line_is_as_long_as_its_limit(limit: int) -> None:
    """One character more is cut and marked; white space is one blank."""
    assert one_line("x" * limit, limit=limit) == "x" * limit
    assert one_line("x" * (limit + 1), limit=limit) == "x" * (limit - 1) + "…"
    assert one_line(" a\n\t b ", limit=80) == "a b"


def test_what_a_terminal_or_a_spreadsheet_would_obey_is_written_out() -> None:
    """Controls, turns of direction and formulas; tabs, line ends, letters and numbers stay."""
    assert shown("a\tb\n\x1b[2J\u202eé\x7f") == "a\tb\n\\x1b[2J\\u202eé\\x7f"
    cells = {"=1+1": "'=1+1", " @x": "' @x", "-5": "-5", "+1.5e3": "+1.5e3", "-5x": "'-5x", "a=b": "a=b", "": ""}
    assert {text: csv_cell(text) for text in cells} == cells
    assert csv_cell(3) == 3


def test_numbers_in_specs_have_an_end() -> None:
    """A million millions on either side; flags have four spellings each."""
    assert CHUNKERS.create("fixed-nws:size=1000000000000").limit.amount == 10**12  # type: ignore[union-attr] # it has one
    for text in ("1000000000001", "-1000000000001", "1.5", "x"):
        with pytest.raises(UsageError, match="it must be"):
            CHUNKERS.create(f"fixed-nws:size={text}")
    for text, value in (("true", True), ("Yes", True), ("1", True), ("on", True), ("false", False), ("0", False)):
        assert CHUNKERS.create(f"cast:expansion={text}").expansion is value  # type: ignore[attr-defined] # cast has it
    with pytest.raises(UsageError, match="true or false"):
        CHUNKERS.create("cast:expansion=maybe")


def test_portions_of_a_folder_are_its_files_in_order(tmp_path: Path) -> None:
    """About so many, each but the last of the same number of files, and none of fewer than asked for."""
    for number in range(10):
        (tmp_path / f"{number}.py").write_text(f"x = {number}\n")
    folder = walk(tmp_path)
    for count, least, sizes in (
        (3, 1, [4, 4, 2]),
        (5, 1, [2] * 5),
        (20, 1, [1] * 10),
        (5, 3, [3, 3, 3, 1]),
        (1, 1, [10]),
    ):
        parts = folder.portions(count, least=least)
        assert [len(part.paths) for part in parts] == sizes
        assert tuple(path for part in parts for path in part.paths) == folder.paths
    found = list(read_many(folder, ["3.py", "absent.py", "0.py"]))
    assert [source and source.data for source in found] == [b"x = 3\n", None, b"x = 0\n"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a/b.py", ""),
        ("build/a.py", "vendored or built"),
        ("a/build/a.py", ""),
        ("build.py", ""),
        ("a/vendor/b/c.py", "vendored or built"),
        ("a/x.egg-info/b.py", "vendored or built"),
        ("a/.cache/b.py", "hidden folder"),
        (".hidden.py", ""),
        ("vendor", ""),
    ],
)
def test_folders_keep_files_out(path: str, reason: str) -> None:
    """Hidden and vendored ones anywhere, built ones at the top; a file's own name says nothing."""
    assert unfit_path(path) == reason


def test_a_zero_byte_early_in_a_file_makes_it_binary() -> None:
    """Within the first 8,192 bytes, wanted or not; what is minified is kept where it is wanted."""
    for place, reason in ((0, "binary"), (8191, "binary"), (8192, "")):
        data = b"#" * place + b"\0\n"
        assert unfit_content("a.py", data) == unfit_content("a.py", data, wanted=True) == reason
    assert unfit_content("a.min.js", b"x\n") == "minified"
    assert unfit_content("a.min.js", b"x\n", wanted=True) == ""
    assert unfit_content("a.min.d/b.js", b"x\n") == ""
    assert unfit_content("a.py", b"#" * 9000) == ""


@pytest.mark.parametrize(("off", "taken"), [(0, True), (2, True), (-2, True), (3, False), (-3, False)])
def test_a_size_is_matched_within_two_percent(*, off: int, taken: bool) -> None:
    """Exactly two of a hundred are near enough; of two limits that are as near the smaller one is chosen."""
    chunker = CHUNKERS.create("fixed-nws:size=10")

    def means_at(limits: Sequence[int]) -> dict[int, float | Exception]:
        # Nothing below fifty, and from there on the same: the search ends where the mean jumps.
        return {limit: 10.0 if limit < 50 else 100.0 + off for limit in limits}

    if taken:
        match = match_by("x", chunker, SizeLimit("nws", 100), means_at=means_at)
        assert (match.mean, match.field) == (100 + off, "size")
        assert 50 <= match.chosen <= 800
    else:
        with pytest.raises(UsageError, match=r"cannot reach a mean of 100 nws on these files: size=\d+ gives"):
            match_by("x", chunker, SizeLimit("nws", 100), means_at=means_at)


def test_the_chosen_limit_is_the_smallest_of_the_nearest() -> None:
    """Of the limits that were tried: a mean that grows by steps of ten is met at the step that is nearest."""
    chunker = CHUNKERS.create("fixed-nws:size=10")

    def means_at(limits: Sequence[int]) -> dict[int, float | Exception]:
        return {limit: float(limit // 10 * 10) for limit in limits}

    for target in (1000, 1004, 995):
        match = match_by("x", chunker, SizeLimit("nws", target), means_at=means_at)
        assert abs(match.mean - target) <= 5
        assert match.mean == match.chosen // 10 * 10


def test_a_byte_leads_back_to_the_character_that_holds_it() -> None:
    """Characters of one to four bytes; a byte that belongs to none stands for itself."""
    for sign in "aéࠀ€अ😀𐀀":
        data = b"x" + sign.encode() + b"y"
        assert [character_start(data, at) for at in range(len(data))] == [0, *[1] * (len(data) - 2), len(data) - 1]
    for data in (b"\x80" * 6, b"\xe0\xa4a", b"\xc3", b"\xf0\x9f\x98", b"\xc3\xc3\xa9"):
        alone = [at for at in range(len(data)) if character_start(data, at) == at]
        assert alone == [at for at in range(len(data)) if (at, data) != (2, b"\xc3\xc3\xa9")]
    assert [character_start("é".encode() + b"\x80\x80", at) for at in range(4)] == [0, 0, 2, 3]


@pytest.mark.parametrize(
    ("spec", "taken"),
    [
        ("fixed-tokens:tokens=4", True),
        ("fixed-tokens:tokens=10,overlap=3", True),
        ("fixed-tokens:tokens=10,overlap=4", False),
        ("fixed-tokens:tokens=5,overlap=1", False),
        ("fixed-tokens:tokens=10,offset=9", True),
        ("fixed-tokens:tokens=10,offset=10", False),
        ("fixed-tokens:tokens=10,overlap=3,offset=6", True),
        ("fixed-tokens:tokens=10,overlap=3,offset=7", False),
        ("fixed-tokens:tokens=10,offset=-1", False),
        ("fixed-lines:lines=1", True),
        ("fixed-lines:lines=5,overlap=4", True),
        ("fixed-lines:lines=5,overlap=4,offset=1", False),
        ("fixed-lines:lines=5,overlap=-1", False),
        ("fixed-lines:lines=5,offset=4", True),
        ("fixed-lines:lines=5,offset=5", False),
        ("sliding-window:window=5,step=5", True),
        ("sliding-window:window=5,step=5,offset=4", True),
        ("sliding-window:window=5,step=5,offset=5", False),
        ("definitions:size=1", True),
        ("definitions:size=none", True),
        ("cast:size=1,overlap=0", True),
    ],
)
def test_sizes_overlaps_and_offsets_have_their_ends(spec: str, taken: bool) -> None:  # noqa: FBT001 - a parameter
    """What still leaves a step forward is taken, the next one is refused."""
    if taken:
        assert CHUNKERS.create(spec).split(SourceFile("a.py", b"a = 1\nb = 2\n", "python"))
    else:
        with pytest.raises(UsageError, match="must be"):
            CHUNKERS.create(spec)


def test_limits_are_promised_only_where_they_hold() -> None:
    """Not with an overlap on top, not in another tokenizer's tokens, not without a size."""
    limits = {
        "cast:size=9": SizeLimit("nws", 9),
        "cast:size=9,overlap=1": None,
        "fixed-tokens:tokens=9": SizeLimit("tokens", 9),
        "fixed-tokens:tokens=9,tokenizer=o200k_base": None,
        "definitions": None,
        "definitions:size=9": SizeLimit("nws", 9),
        "sliding-window:window=9,step=2": SizeLimit("lines", 9),
        "recursive:size=9": SizeLimit("nws", 9),
    }
    assert {spec: CHUNKERS.create(spec).limit for spec in limits} == limits
