"""A word as a number, so that many can be looked up at once: 56 bits of a hash, then 8 bits of length in bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

_LENGTH = 0xFF
"""Longer words are stored with this length."""
_MOST = 500_000
"""Words whose numbers are cached."""


@dataclass(frozen=True, slots=True)
class WordNames:
    """Names words; known ones are cached, up to a limit."""

    _known: dict[str, int] = field(default_factory=dict)

    def of(self, words: Sequence[str]) -> np.ndarray:
        """Return the number of each word."""
        known = self._known
        if len(known) > _MOST:
            known.clear()
        return np.array([known.get(word) or known.setdefault(word, _named(word)) for word in words], dtype=np.uint64)


def distinct(names: np.ndarray) -> np.ndarray:
    """Return the distinct names, ascending; sorting is several times as fast as the hash table of `np.unique`."""
    ordered = np.sort(names)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def bytes_of(names: np.ndarray) -> int:
    """Return the total length in bytes of these words."""
    return int((names & np.uint64(_LENGTH)).sum())


def _named(word: str) -> int:
    data = word.encode()
    digest = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
    return (digest & ~_LENGTH) | min(len(data), _LENGTH)
