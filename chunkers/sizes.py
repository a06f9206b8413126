"""Sizes of text in one of three units, counted once per file so that every chunker pays the same for the same bytes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chunkers.tokens import token_starts
from chunkers.types import SizeUnit

_WHITESPACE = np.zeros(256, dtype=bool)
_WHITESPACE[list(b" \t\n\r\v\f")] = True


@dataclass(frozen=True, slots=True)
class Ruler:
    """Where each unit of a file begins; a unit belongs to the span that holds its first byte."""

    starts: np.ndarray
    """Ascending byte offsets."""

    def at(self, offsets: int | np.ndarray) -> np.ndarray:
        """Return how many units begin before each offset."""
        return np.searchsorted(self.starts, offsets)

    def count(self, start: int, end: int) -> int:
        """Return the units of a half-open span; spans that tile a file add up to the file's size."""
        return int(self.at(end) - self.at(start))


def ruler(data: bytes, unit: SizeUnit) -> Ruler:
    """Return the file's ruler in non-whitespace characters, cl100k_base tokens or lines."""
    return Ruler(_STARTS[unit](data))


def nws(data: bytes) -> int:
    """Return the number of non-whitespace characters (bytes that continue a UTF-8 character do not count)."""
    return int(np.count_nonzero(is_nws(data)))


def is_nws(data: bytes) -> np.ndarray:
    """Return, for each byte, whether a non-whitespace character begins there."""
    values = np.frombuffer(data, dtype=np.uint8)
    begins: np.ndarray = ~_WHITESPACE[values] & ((values & 0xC0) != 0x80)
    return begins


def _nws_starts(data: bytes) -> np.ndarray:
    return np.flatnonzero(is_nws(data))


def _line_starts(data: bytes) -> np.ndarray:
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
    starts = np.concatenate(([0], ends))
    return starts[starts < len(data)]


_STARTS: dict[SizeUnit, Callable[[bytes], np.ndarray]] = {
    "nws": _nws_starts,
    "tokens": functools.partial(token_starts, tokenizer="cl100k_base"),
    "lines": _line_starts,
}
