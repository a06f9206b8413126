"""The statistics of a whole search space that BM25 needs to score any part: number, lengths and words of texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from indexing.word_counts import WordCounts
from indexing.word_names import WordNames, bytes_of, distinct


class Frequencies(NamedTuple):
    """Statistics for some words that add up over the parts of a search space."""

    words: tuple[str, ...]
    holding: np.ndarray
    """Texts that contain each word (document frequency)."""
    texts: int
    length: int
    """Words of all texts, including repeated ones."""
    pairs: int
    """Distinct words of each text, summed."""
    vocabulary: np.ndarray
    """The name of every word in the texts, ascending; a word that occurs in several parts is one word."""

    @property
    def mean(self) -> float:
        """Mean number of words per text."""
        return self.length / self.texts if self.texts else 0.0

    @property
    def nbytes(self) -> int:
        """Size of an index of the texts: its words, where each begins, and a text and a value for each pair."""
        return bytes_of(self.vocabulary) + 8 * (len(self.vocabulary) + 1) + 8 * self.pairs

    def weights(self) -> np.ndarray:
        """Return the inverse document frequency of each word."""
        held, which = np.unique(self.holding, return_inverse=True)
        # Not numpy's logarithm, whose last bit may differ between processors.
        weights = [math.log(1 + (self.texts - each + 0.5) / (each + 0.5)) for each in held.tolist()]
        return np.array(weights).astype(np.float32)[which]


def frequencies_of(counts: WordCounts) -> Frequencies:
    """Return the statistics of some texts, for all their words."""
    holding = np.bincount(counts.words, minlength=len(counts.vocabulary))
    held = distinct(WordNames().of(counts.vocabulary))
    return Frequencies(
        tuple(counts.vocabulary), holding, len(counts.lengths), int(counts.lengths.sum()), len(counts.words), held
    )


def total(parts: Iterable[Frequencies], words: Sequence[str]) -> Frequencies:
    """Return the statistics of all parts together; each must have counted these words."""
    found = list(parts)
    return Frequencies(
        tuple(words),
        sum((part.holding for part in found), np.zeros(len(words), dtype=np.int64)),
        sum(part.texts for part in found),
        sum(part.length for part in found),
        sum(part.pairs for part in found),
        distinct(np.concatenate([np.zeros(0, np.uint64), *(part.vocabulary for part in found)])),
    )
