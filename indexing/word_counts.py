"""Term frequencies of some texts: all that BM25 needs to know about them, and cheap to store."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from indexing.code_words import word_parts, words_in
from indexing.encoders.texts import readable

_MOST = 500_000
"""Words whose parts are cached."""


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Texts as a matrix by rows: the distinct words of each, with their frequencies."""

    vocabulary: Sequence[str]
    """The words of all texts, in order of first use."""
    lengths: np.ndarray
    """Number of words of each text, including repeated ones."""
    ends: np.ndarray
    """Where each text's distinct words end."""
    words: np.ndarray
    """The distinct words of each text in any order, as indices into the vocabulary."""
    counts: np.ndarray


@dataclass(frozen=True, slots=True)
class WordCounter:
    """Counts words; the parts of known words are cached, up to a limit."""

    _parts: dict[str, list[str]] = field(default_factory=dict)

    def count(self, texts: Iterable[str]) -> WordCounts:
        """Return the words of the texts, which are read once and not held."""
        if len(self._parts) > _MOST:
            self._parts.clear()
        vocabulary: dict[str, int] = {}
        known: dict[str, tuple[int, ...]] = {}
        ids, lengths = array("i"), array("i")
        for text in texts:
            before = len(ids)
            for word in words_in(readable(text)):
                numbers = known.get(word)
                if numbers is None:
                    parts = self._parts.get(word) or self._parts.setdefault(word, word_parts(word))
                    numbers = known[word] = tuple([vocabulary.setdefault(part, len(vocabulary)) for part in parts])
                ids.extend(numbers)
            lengths.append(len(ids) - before)
        return counts_of(list(vocabulary), _numbers(ids), _numbers(lengths))


def counts_of(vocabulary: Sequence[str], ids: np.ndarray, lengths: np.ndarray) -> WordCounts:
    """Return the counts of consecutive texts, with words as indices into the vocabulary."""
    keys = np.repeat(np.arange(len(lengths)), lengths) * np.int64(max(len(vocabulary), 1)) + ids
    distinct, counts = np.unique(keys, return_counts=True)
    texts, words = np.divmod(distinct, max(len(vocabulary), 1))
    ends = np.cumsum(np.bincount(texts, minlength=len(lengths)))
    return WordCounts(vocabulary, lengths.astype(np.int64), ends, words.astype(np.int32), counts.astype(np.int32))


def _numbers(values: array[int]) -> np.ndarray:
    return np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, np.int32)
