"""Hidden text that a chunk's header repeats: lines of the chunk before, or what a definition says of itself."""

from __future__ import annotations

import numpy as np

from ground_truth.hidden import visible_text

_MARKS = " \t\r#/*\"'`-=<>!{}()[];%|.,:"
"""What stands around the words of a comment."""
_LEAST_WORDS = 3
"""Fewer words are too common to be known again inside a line."""


class HiddenLines:
    """What the lines of a file say where some of them are hidden."""

    def __init__(self, data: bytes, ranges: np.ndarray) -> None:
        """Take a file and its hidden bytes: rows of start and end, ascending and apart."""
        self._visible: dict[str, str] = {}
        said: dict[str, None] = {}
        for low, high in ranges.tolist():
            start = data.rfind(b"\n", 0, low) + 1
            while start < high:
                end = data.find(b"\n", start) if b"\n" in data[start:high] else _line_end(data, high)
                line, visible = _text(data[start:end]), _text(visible_text(data, ranges, start, end))
                # Where a line is there several times, least is shown of it.
                self._visible[line] = min(visible, self._visible.get(line, visible), key=len)
                words = _text(data[max(start, low) : min(end, high)]).strip(_MARKS)
                if len(words.split()) >= _LEAST_WORDS:
                    said[words] = None
                start = end + 1
        self._visible.pop("", None)
        self._said = sorted(said, key=len, reverse=True)

    def without(self, header: str) -> str:
        """Return a header without what is hidden; a line of which nothing is left is left out."""
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
    """Return where the line ends that holds the byte before an offset."""
    found = data.find(b"\n", max(offset - 1, 0))
    return len(data) if found < 0 else found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
