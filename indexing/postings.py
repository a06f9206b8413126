"""Postings of BM25, shard by shard: which words are in which texts, with one document frequency for all shards.

Scores are those that bm25s gives to the same words in one index, to the last bit: a text's score does not depend on the
shard it lies in.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexing.code_words import word_parts, words_in
from indexing.encoders.texts import readable

SHARD = 32_768
"""Texts of a shard: what is sorted at a time."""
LARGEST_IN_MEMORY = 256 * 2**20
"""Bytes of postings that are held in memory; the shards beyond are memory-mapped files."""


@dataclass(frozen=True, slots=True)
class PostingShard:
    """Some texts as a matrix by columns: for each word the texts that hold it, and what it adds to their score."""

    texts: int
    starts: np.ndarray
    """Where each word's texts begin; words that no text of this shard or of an earlier one holds are not in it."""
    places: np.ndarray
    """Texts, counted from the shard's first."""
    values: np.ndarray

    @property
    def nbytes(self) -> int:
        """What it takes."""
        return int(self.starts.nbytes + self.places.nbytes + self.values.nbytes)

    def scores(self, words: Sequence[int]) -> np.ndarray:
        """Return every text's score for a query of these words, added up in their order."""
        import bm25s

        index = bm25s.BM25(method="lucene")
        index.nonoccurrence_array = None
        index.scores = {"data": self.values, "indices": self.places, "indptr": self.starts, "num_docs": self.texts}
        found: np.ndarray = index.get_scores_from_ids([word for word in words if word + 1 < len(self.starts)])
        return found


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of a search space."""

    vocabulary: Mapping[str, int]
    shards: Sequence[PostingShard]

    @property
    def nbytes(self) -> int:
        """What is kept to answer queries."""
        words = sum(len(word.encode()) for word in self.vocabulary)
        return words + sum(shard.nbytes for shard in self.shards)


def build_postings(texts: Iterable[str], *, k1: float, b: float) -> Postings:
    """Return the postings of texts by Lucene's BM25; they are read once, and few are held."""
    vocabulary: dict[str, int] = {}
    room = _Room()
    lengths: list[np.ndarray] = []
    counted: list[PostingShard] = []
    for ids, sizes in _numbered(texts, vocabulary):
        lengths.append(sizes)
        counted.append(room.keep(_counts(ids, sizes, words=len(vocabulary))))
    count = sum(map(len, lengths))
    mean = sum(int(sizes.sum()) for sizes in lengths) / count if count else 0.0
    weights = _weights(counted, words=len(vocabulary), texts=count)
    for shard, sizes in zip(counted, lengths, strict=True):
        _score(shard, weights, k1 * ((1 - b) + b * sizes / mean) if mean else np.zeros(len(sizes)))
    return Postings(vocabulary, counted)


def _numbered(texts: Iterable[str], vocabulary: dict[str, int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield shard by shard the words of the texts as numbers, in order of first use, and how many each text has."""
    known: dict[str, tuple[int, ...]] = {}
    rest = iter(texts)
    while held := list(itertools.islice(rest, 1)):
        ids, sizes = array("i"), array("i")
        for text in itertools.chain(held, itertools.islice(rest, SHARD - 1)):
            before = len(ids)
            for word in words_in(readable(text)):
                numbers = known.get(word)
                if numbers is None:
                    parts = word_parts(word)
                    numbers = known[word] = tuple([vocabulary.setdefault(part, len(vocabulary)) for part in parts])
                ids.extend(numbers)
            sizes.append(len(ids) - before)
        yield np.frombuffer(ids, dtype=np.int32) if ids else np.zeros(0, np.int32), np.array(sizes, dtype=np.int64)


def _counts(ids: np.ndarray, sizes: np.ndarray, *, words: int) -> PostingShard:
    """Return how often each word is in each text."""
    keys = ids * np.int64(len(sizes)) + np.repeat(np.arange(len(sizes)), sizes)
    distinct, counts = np.unique(keys, return_counts=True)
    found, places = np.divmod(distinct, len(sizes))
    starts = np.concatenate(([0], np.cumsum(np.bincount(found, minlength=words))))
    return PostingShard(len(sizes), starts, places.astype(np.int32), counts.astype(np.float32))


def _weights(shards: Sequence[PostingShard], *, words: int, texts: int) -> np.ndarray:
    """Return each word's inverse document frequency over all shards."""
    holding = np.zeros(words, dtype=np.int64)
    for shard in shards:
        holding[: len(shard.starts) - 1] += np.diff(shard.starts)
    values, which = np.unique(holding, return_inverse=True)
    # Not numpy's logarithm, which may differ in the last bit between processors.
    weights = np.array([math.log(1 + (texts - held + 0.5) / (held + 0.5)) for held in values.tolist()])
    return weights.astype(np.float32)[which]


def _score(shard: PostingShard, weights: np.ndarray, norms: np.ndarray) -> None:
    """Put what each word adds to a text's score in the place of its count."""
    weight = np.repeat(weights[: len(shard.starts) - 1], np.diff(shard.starts))
    counts = shard.values.astype(np.float64)
    shard.values[:] = weight * (counts / (norms[shard.places] + counts))


class _Room:
    """Keeps shards in memory up to a bound, and those beyond it in files that go with them."""

    def __init__(self) -> None:
        self._left = LARGEST_IN_MEMORY

    def keep(self, shard: PostingShard) -> PostingShard:
        """Return the shard with its postings where there is room."""
        self._left -= shard.nbytes
        if self._left >= 0:
            return shard
        return PostingShard(shard.texts, shard.starts, _mapped(shard.places), _mapped(shard.values))


def _mapped(values: np.ndarray) -> Any:  # noqa: ANN401 - an array
    if not len(values):
        return values
    with tempfile.TemporaryFile() as file:
        made = np.memmap(file, dtype=values.dtype, mode="w+", shape=values.shape)
    made[:] = values
    return made
