"""Cuts plain text by size: at line ends if possible, else at whitespace, else between two characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from chunkers.sizes import WHITESPACE, nws_before
from chunkers.types import Piece

_BLANKS = tuple(bytes([byte]) for byte in WHITESPACE if byte != ord("\n"))


def text_cuts(data: bytes, counts: memoryview, start: int, end: int, *, limit: int) -> Iterator[int]:
    """Yield the offsets at which to cut the span so that no part holds more than limit nws characters.

    Every part but the last is as large as possible; ``counts`` is the file's `nws_before`.
    """
    while counts[end] - counts[start] > limit:
        # The first character that does not fit begins here, so a cut here never splits a character.
        full = bisect_right(counts, counts[start] + limit, start, end + 1) - 1
        start = _after_last(data, counts, start, full)
        yield start


def text_pieces(data: bytes, *, limit: int) -> list[Piece]:
    """Return a whole file, cut as text."""
    if len(data) <= limit:
        return [Piece(0, len(data))] if data else []
    cuts = [0, *text_cuts(data, nws_before(data), 0, len(data), limit=limit), len(data)]
    return list(map(Piece, cuts, cuts[1:]))


def _after_last(data: bytes, counts: memoryview, start: int, full: int) -> int:
    """Return the offset after the last line end before full, or after the last blank, or full itself."""
    line = data.rfind(b"\n", start, full) + 1
    if line > start and counts[line] > counts[start]:
        return line
    blank = max(data.rfind(blank, start, full) for blank in _BLANKS) + 1
    # A part of only whitespace would be an empty chunk.
    return blank if blank > start and counts[blank] > counts[start] else full
