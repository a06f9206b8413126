"""Maps the texts that a library returns to exact spans of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chunkers.types import Piece


def located(data: bytes, texts: Iterable[bytes]) -> list[Piece]:
    """Return the place of each text in the file, ordered by start; a text that is not in the file is dropped.

    Libraries return chunks in document order, so each is searched for from where the last one ended; if it is not
    there, from the last one's start, and then from the file's. Blank texts are dropped.
    """
    pieces: list[Piece] = []
    last = Piece(0, 0)
    for text in texts:
        found = _find(data, text, (last.end, last.start, 0)) if text.strip() else None
        if found is not None:
            last = found
            pieces.append(found)
    return sorted(set(pieces))


def runs(data: bytes, text: bytes, *, begin: int) -> list[Piece]:
    """Return the spans that a text was assembled from, in the order of the text.

    A text that occurs verbatim in the file is one span. Of any other, each line is searched for after the previous
    line, starting from ``begin``; indentation is ignored, and lines that are not found are dropped.
    """
    whole = _find(data, text, (begin, 0)) if text.strip() else None
    if whole is not None:
        return [whole]
    found: list[Piece] = []
    for line in map(bytes.strip, text.split(b"\n")):
        if line and (piece := _find(data, line, (found[-1].end if found else begin,))):
            found.append(piece)
    return found


def _find(data: bytes, text: bytes, begins: Sequence[int]) -> Piece | None:
    """Return the first occurrence of the text, starting from the first offset that has one."""
    offsets = (data.find(text, begin) for begin in begins)
    start = next((offset for offset in offsets if offset >= 0), -1)
    return Piece(start, start + len(text)) if start >= 0 else None
