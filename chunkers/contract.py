"""The contract of every chunker, for `chunkbench check-plugin chunker` and for our own tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chunkers.errors import reason_of
from chunkers.findings import Check, Finding, examine
from chunkers.sizes import ruler
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, Piece, SizeLimit, SourceFile

_PYTHON = b'''"""A module."""

import os


class Box:
    """Holds things."""

    def __init__(self, size):
        self.size = size

    def put(self, thing):
        if thing is None:
            raise ValueError("nothing")
        self.things.append(thing)


def open_box(path):
    with open(path) as file:
        return Box(len(file.read()))
'''
_BRACES = b"function add(a, b) {\n  return a + b;\n}\n\nclass Adder {\n  run() { return add(1, 2); }\n}\n"
SAMPLES = (
    SourceFile("box.py", _PYTHON, "python"),
    SourceFile("long.py", _PYTHON * 40, "python"),
    SourceFile("add.js", _BRACES * 5, "javascript"),
    SourceFile("windows.py", _PYTHON.replace(b"\n", b"\r\n"), "python"),
    SourceFile("returns.js", _BRACES.replace(b"\n", b"\r"), "javascript"),
    SourceFile("unclosed.py", _PYTHON[:170], "python"),
    SourceFile("latin1.py", b"# caf\xe9 \xff\xfe\n" + _PYTHON, "python"),
    SourceFile("marked.py", b"\xef\xbb\xbf" + _PYTHON, "python"),
    SourceFile("emoji.py", "x = 'é😀'\n".encode() * 60, "python"),
    SourceFile("zeros.bin", b"\x00\x01\n\x00" * 50, None),
    SourceFile("one-line.js", b"say('a long text'); " * 400, "javascript"),
    SourceFile("blank.py", b" \n\t\n\n", "python"),
    SourceFile("no-newline.go", b"package main", "go"),
    SourceFile("other.xyz", _BRACES, None),
    SourceFile("strange.xyz", _BRACES, "no-such-language"),
)
"""Files that a chunker will meet sooner or later."""
EMPTY = SourceFile("empty.py", b"", "python")


def check_chunker(chunker: Chunker, sources: Sequence[SourceFile] = SAMPLES) -> list[Finding]:
    """Return every rule with the first file that violates it."""
    return examine(chunker, {rule: _over(check, sources) for rule, check in RULES.items()} | _ALONE)


def file_problems(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    """Yield every violation by the chunks of this file."""
    for rule, check in RULES.items():
        for problem in check(chunker, source):
            yield f"{rule}: {problem}"


def _inside(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    pieces: Sequence[Any] = chunker.split(source)
    for piece in pieces:
        if not isinstance(piece, Piece):
            yield f"{piece!r} is not a Piece"
        elif not 0 <= piece.start < piece.end <= len(source.data):
            yield f"a piece from {piece.start} to {piece.end} of {len(source.data)} bytes"


def _ordered(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    starts = [piece.start for piece in chunker.split(source)]
    if starts != sorted(starts):
        yield "a piece begins before the one above it"


def _distinct(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    for piece, times in Counter(chunker.split(source)).items():
        if times > 1:
            yield f"the piece from {piece.start} to {piece.end} is there {times} times, and makes one chunk"


def _verbatim(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    for chunk in chunk_file(chunker, source):
        start, end, first, last = chunk.span
        if chunk.text.encode("utf-8", "surrogateescape") != source.data[start:end]:
            yield f"the text of bytes {start} to {end} is not that of the file"
        if (first, last) != (source.data.count(b"\n", 0, start) + 1, source.data.count(b"\n", 0, end - 1) + 1):
            yield f"bytes {start} to {end} are not lines {first} to {last}"


def _covering(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    if not chunker.lossless:
        return
    reached = 0
    for piece in chunker.split(source):
        if piece.start > reached:
            yield f"bytes {reached} to {piece.start} are in no piece"
        reached = max(reached, piece.end)
    if reached < len(source.data):
        yield f"bytes {reached} to {len(source.data)} are in no piece"


def _limited(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    limit = chunker.limit
    if limit is None:
        return
    units = ruler(source.data, limit.unit)
    for piece in chunker.split(source):
        size = units.count(piece.start, piece.end)
        if size > limit.amount:
            yield f"a chunk of {size} {limit.unit}, the limit being {limit.amount}"


def _repeated(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    first: list[Chunk] = chunk_file(chunker, source)
    if chunk_file(chunker, source) != first:
        yield "the second time it was cut elsewhere"


def _some(chunker: Chunker, source: SourceFile) -> Iterator[str]:
    if chunker.lossless and source.data and not chunker.split(source):
        yield "no chunk at all"
    if not source.data and chunker.split(source):
        yield "chunks of nothing"


RULES = {
    "pieces lie inside the file and none is empty": _inside,
    "pieces are ordered by where they begin": _ordered,
    "no piece is there twice": _distinct,
    "chunks are verbatim, with the lines of their bytes": _verbatim,
    "lossless: every byte is in a piece": _covering,
    "no chunk exceeds the limit": _limited,
    "the same file is cut in the same way again": _repeated,
    "a file that holds anything has chunks": _some,
}
"""The rules for every file: sentence → check."""


def _declared(chunker: Chunker) -> Iterator[str]:
    version: Any = chunker.version
    lossless: Any = chunker.lossless
    limit: Any = chunker.limit
    if not isinstance(version, str) or not version:
        yield 'version is not a text: write version: ClassVar[str] = "1"'
    if not isinstance(lossless, bool):
        yield "lossless is neither True nor False"
    if limit is not None and not (isinstance(limit, SizeLimit) and limit.amount > 0):
        yield f"limit is {limit!r}: it is None or SizeLimit(unit, amount)"


def _frozen(chunker: Chunker) -> Iterator[str]:
    if not type(chunker).__dataclass_params__.frozen:  # type: ignore[attr-defined] # every plug-in is a dataclass
        yield "its parameters can be changed: write @dataclass(frozen=True, kw_only=True)"


def _empty(chunker: Chunker) -> Iterable[str]:
    return _some(chunker, EMPTY)


_ALONE: dict[str, Check[Chunker]] = {
    "version, lossless and limit say what they should": _declared,
    "it is frozen: the same spec is always the same chunker": _frozen,
    "an empty file has no chunks": _empty,
}


def _over(check: Any, sources: Sequence[SourceFile]) -> Check[Chunker]:  # noqa: ANN401 - a check of one file
    def every(chunker: Chunker) -> Iterator[str]:
        for source in sources:
            try:
                yield from (f"{source.path}: {problem}" for problem in check(chunker, source))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a chunker may raise anything; the file is what its author needs
                yield f"{source.path}: it raised {reason_of(error)}"

    return every
