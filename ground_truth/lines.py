"""The lines of a file: where each begins, and where its text begins and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chunkers.sizes import is_nws


class LineRange(NamedTuple):
    """1-based inclusive lines; empty when the last comes before the first."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FileLines:
    """Three arrays with one entry per line; only line feeds end a line."""

    size: int
    starts: np.ndarray
    text_starts: np.ndarray
    """The line's first byte that is not whitespace; -1 if the line is blank."""
    text_ends: np.ndarray
    """The byte after the first byte of the line's last visible character; -1 if the line is blank."""

    @classmethod
    def of(cls, data: bytes) -> FileLines:
        """Return the lines of a file; a line feed at the very end starts no further one."""
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
        starts = np.concatenate(([0], ends)).astype(np.int64)
        starts = starts[starts < len(data)]
        visible = np.flatnonzero(is_nws(data))
        bounds = np.searchsorted(visible, np.append(starts, len(data)))
        filled = bounds[:-1] < bounds[1:]
        text_starts = np.full(len(starts), -1, dtype=np.int64)
        text_ends = np.full(len(starts), -1, dtype=np.int64)
        text_starts[filled] = visible[bounds[:-1][filled]]
        text_ends[filled] = visible[bounds[1:][filled] - 1] + 1
        return cls(len(data), starts, text_starts, text_ends)

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.starts)

    @property
    def has_text(self) -> np.ndarray:
        """For each line, whether it is not blank."""
        result: np.ndarray = self.text_starts >= 0
        return result

    def to_bytes(self, first: int, last: int) -> tuple[int, int]:
        """Return the half-open byte range of 1-based inclusive lines, including the line feed that ends the last."""
        end = int(self.starts[last]) if last < self.count else self.size
        return int(self.starts[first - 1]), end

    def text_lines(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and last line whose text each half-open span holds; first > last if it holds none.

        A line's text runs from its first visible character to its last.
        """
        filled = np.flatnonzero(self.has_text)
        # A span holds text of a line if it begins before that text ends and ends after it begins.
        first = np.searchsorted(self.text_ends[filled], starts, side="right")
        last = np.searchsorted(self.text_starts[filled], ends, side="left") - 1
        numbers = np.concatenate((filled + 1, [self.count + 1]))
        return numbers[first], np.where(last >= 0, numbers[np.maximum(last, 0)], 0)
