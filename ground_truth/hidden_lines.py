"""Hidden text repeated in a chunk's header: lines of the previous chunk, or a definition's own documentation."""

from __future__ import annotations

import numpy as np

from ground_truth.hidden import visible_text

_MARKS = " \t\r#/*\"'`-=<>!{}()[];%|.,:"
"""Characters around the words of a comment."""
_LEAST_WORDS = 3
"""Fewer words are too common to be recognised inside a line."""


class HiddenLines:
    """The visible part of each line of a file with hidden text."""

    def __init__(self, data: bytes, ranges: np.ndarray) -> None:
        """Take a file and its hidden bytes: rows of start and end, ascending and disjoint."""
        self._visible: dict[str, str] = {}
        said: dict[str, None] = {}
        for low, high in ranges.tolist():
            start = data.rfind(b"\n", 0, low) + 1
            while start < high:
                end = data.find(b"\n", start) if b"\n" in data[start:high] else _line_end(data, high)
                line, visible = _text(data[start:end]), _text(visible_text(data, ranges, start, end))
                # If a line occurs several times, the version with the least visible text counts.
                self._visible[line] = min(visible, self._visible.get(line, visible), key=len)
                words = _text(data[max(start, low) : min(end, high)]).strip(_MARKS)
                if len(words.split()) >= _LEAST_WORDS:
                    said[words] = None
                start = end + 1
        self._visible.pop("", None)
        self._said = sorted(said, key=len, reverse=True)

    def without(self, header: str) -> str:
        """Return a header without hidden text; a line with nothing left is dropped."""
        kept = []
        for line in header.split("\n"):
            plain = _text(line.encode("utf-8", "surrogateescape"))
            if plain in self._visible:
                if self._visible[plain]:
                    kept.append(self._visible[plain])
                continue
            shown = line
            for words in self._said:
                shown = shown.replace(words, "")
            kept.append(shown)
        return "\n".join(kept)


def _line_end(data: bytes, offset: int) -> int:
    """Return the end of the line that holds the byte before an offset."""
    found = data.find(b"\n", max(offset - 1, 0))
    return len(data) if found < 0 else found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
