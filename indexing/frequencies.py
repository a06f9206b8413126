"""What BM25 must know of a whole search space to score any part of it: how many texts, how long, who holds a word."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from indexing.word_counts import WordCounts
from indexing.word_names import WordNames, bytes_of, distinct


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
    """The name of every word that a text holds, ascending: a word that several parts hold is one word."""

    @property
    def mean(self) -> float:
        """Words of a text."""
        return self.length / self.texts if self.texts else 0.0

    @property
    def nbytes(self) -> int:
        """What an index of the texts takes: its words, where each begins, and a text and a value for each pair."""
        return bytes_of(self.vocabulary) + 8 * (len(self.vocabulary) + 1) + 8 * self.pairs

    def weights(self) -> np.ndarray:
        """Return the inverse document frequency of each word."""
        held, which = np.unique(self.holding, return_inverse=True)
        # Not numpy's logarithm, which may differ in the last bit between processors.
        weights = [math.log(1 + (self.texts - each + 0.5) / (each + 0.5)) for each in held.tolist()]
        return np.array(weights).astype(np.float32)[which]


def frequencies_of(counts: WordCounts) -> Frequencies:
    """Return the numbers of some texts, for all words that they hold."""
    holding = np.bincount(counts.words, minlength=len(counts.vocabulary))
    held = distinct(WordNames().of(counts.vocabulary))
    return Frequencies(
        tuple(counts.vocabulary), holding, len(counts.lengths), int(counts.lengths.sum()), len(counts.words), held
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
        distinct(np.concatenate([np.zeros(0, np.uint64), *(part.vocabulary for part in found)])),
    )
