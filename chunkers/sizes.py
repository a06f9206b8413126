"""Sizes of text in three units, counted once per file so that every chunker pays the same for the same bytes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chunkers.tokens import same_length_text, token_starts
from chunkers.types import SizeUnit

WHITESPACE = b" \t\n\r\v\f"
# One byte per byte value: 1 where a non-whitespace character begins, 0 for whitespace and for bytes 2-4 of a character.
_BEGINS_NWS = bytes(byte not in WHITESPACE and byte & 0xC0 != 0x80 for byte in range(256))


@dataclass(frozen=True, slots=True)
class Ruler:
    """The start of each unit of a file; a unit belongs to the span that holds its first byte."""

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
    """Return the number of non-whitespace characters; a byte that is not UTF-8 counts as one."""
    return _characters(data).translate(_BEGINS_NWS).count(1)


def is_nws(data: bytes) -> np.ndarray:
    """Return, for each byte, whether a non-whitespace character begins there."""
    return np.frombuffer(_characters(data).translate(_BEGINS_NWS), dtype=bool)


@functools.lru_cache(maxsize=1)
def nws_before(data: bytes) -> memoryview:
    """Return, for each offset up to and including the end, the number of non-whitespace characters before it.

    A memoryview returns Python integers faster than an array does, and chunkers look up single offsets. The counts of
    the last file are cached: all chunkers of a run cut it, one after the other.
    """
    # The leading blank makes the first count zero. Few numpy calls, on purpose: between two parses numpy's code has
    # left the processor's cache, and each call costs as much as thousands of bytes. The sum is in place because
    # `accumulate` takes twice as long where it also converts.
    begins = np.frombuffer((b" " + _characters(data)).translate(_BEGINS_NWS), dtype=np.uint8)
    counts = begins.astype(np.int32)
    return np.add.accumulate(counts, out=counts).data.toreadonly()


def _characters(data: bytes) -> bytes:
    """Return the bytes with each that is not UTF-8 replaced by a character, so that it counts as one."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return same_length_text(data).encode()
    return data


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
