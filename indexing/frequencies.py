"""What BM25 must know of a whole search space to score any part of it: how many texts, how long, who holds a word."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from indexing.word_counts import WordCounts


class Frequencies(NamedTuple):
    """Numbers that add up over the parts of a search space, for some words."""

    words: tuple[str, ...]
    holding: np.ndarray
    """Texts that hold each word."""
    texts: int
    length: int
    """Words of all texts, repeated ones included."""
    pairs: int
    """Distinct words of each text, summed."""
    vocabulary: np.ndarray
    """A hash of every word that a text holds, and its bytes: a word that several parts hold is one word."""

    @property
    def mean(self) -> float:
        """Words of a text."""
        return self.length / self.texts if self.texts else 0.0

    @property
    def nbytes(self) -> int:
        """What an index of the texts takes: its words, where each begins, and a text and a value for each pair."""
        return int(self.vocabulary["bytes"].sum()) + 8 * (len(self.vocabulary) + 1) + 8 * self.pairs

    def weights(self) -> np.ndarray:
        """Return the inverse document frequency of each word."""
        held, which = np.unique(self.holding, return_inverse=True)
        # Not numpy's logarithm, which may differ in the last bit between processors.
        weights = [math.log(1 + (self.texts - each + 0.5) / (each + 0.5)) for each in held.tolist()]
        return np.array(weights).astype(np.float32)[which]


_WORD = np.dtype([("hash", "<u8"), ("bytes", "<u4")])


def frequencies_of(counts: WordCounts, words: Sequence[str] | None = None) -> Frequencies:
    """Return the numbers of some texts, for these words or for all they hold."""
    asked = tuple(counts.vocabulary if words is None else words)
    holding = np.bincount(counts.words, minlength=len(counts.vocabulary))
    if words is not None:
        numbers = {word: number for number, word in enumerate(counts.vocabulary)}
        places = np.array([numbers.get(word, -1) for word in asked], dtype=np.int64)
        holding = np.append(holding, 0)[places]
    held = np.array([_hashed(word) for word in counts.vocabulary], dtype=_WORD)
    return Frequencies(
        asked, holding, len(counts.lengths), int(counts.lengths.sum()), len(counts.words), _distinct(held)
    )


def total(parts: Iterable[Frequencies], words: Sequence[str]) -> Frequencies:
    """Return the numbers of all parts together, each of which has counted these words."""
    found = list(parts)
    return Frequencies(
        tuple(words),
        sum((part.holding for part in found), np.zeros(len(words), dtype=np.int64)),
        sum(part.texts for part in found),
        sum(part.length for part in found),
        sum(part.pairs for part in found),
        _distinct(np.concatenate([np.zeros(0, _WORD), *(part.vocabulary for part in found)])),
    )


def _distinct(held: np.ndarray) -> np.ndarray:
    """Return what `numpy.unique` does, which is slow for rows of several fields."""
    ordered = held[np.lexsort((held["bytes"], held["hash"]))]
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _hashed(word: str) -> tuple[int, int]:
    data = word.encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little"), len(data)
