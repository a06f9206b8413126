"""BM25 postings in shards: which words are in which texts, with one document frequency for all shards.

Scores are bit-identical to those of bm25s for the same words in one index: a text's score does not depend on its shard.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indexing.frequencies import Frequencies, frequencies_of, total
from indexing.mapped_arrays import mapped_array
from indexing.word_counts import WordCounter, WordCounts

SHARD = 32_768
"""Texts per shard: the number sorted at a time."""
LARGEST_IN_MEMORY = 256 * 2**20
"""Bytes of postings held in memory; further shards are memory-mapped files."""


@dataclass(frozen=True, slots=True)
class PostingShard:
    """Some texts as a matrix by columns: for each word, the texts that contain it and its share of their scores."""

    numbers: Mapping[str, int]
    """Word → its column."""
    lengths: np.ndarray
    """Number of words of each text."""
    starts: np.ndarray
    """Where the texts of each word begin."""
    places: np.ndarray
    """Texts, counted from the shard's first."""
    values: np.ndarray
    """Term frequency in the text; after weighing, the word's contribution to the text's score."""

    @property
    def nbytes(self) -> int:
        """Size of the arrays."""
        return int(self.lengths.nbytes + self.starts.nbytes + self.places.nbytes + self.values.nbytes)

    def only(self, words: Sequence[str]) -> PostingShard:
        """Return a shard of only these words; those that occur in no text have an empty column."""
        columns = np.array([self.numbers.get(word, len(self.numbers)) for word in words], dtype=np.int64)
        begins, ends = np.append(self.starts, self.starts[-1])[columns], np.append(self.starts[1:], self.starts[-1:])
        sizes = ends[columns] - begins
        starts = np.concatenate(([0], np.cumsum(sizes)))
        taken = np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])
        numbers = {word: number for number, word in enumerate(words)}
        return PostingShard(numbers, self.lengths, starts, self.places[taken], self.values[taken])

    def weigh(self, weights: np.ndarray, *, mean: float, k1: float, b: float) -> None:
        """Replace each count by the word's contribution to the text's score; ``mean`` is the mean length of a text."""
        norms = k1 * ((1 - b) + b * self.lengths / mean) if mean else np.zeros(len(self.lengths))
        weight = np.repeat(weights, np.diff(self.starts))
        counts = self.values.astype(np.float64)
        self.values[:] = weight * (counts / (norms[self.places] + counts))

    def scores(self, words: Sequence[str]) -> np.ndarray:
        """Return every text's score for a query of these words, summed in their order."""
        import bm25s

        asked = [self.numbers[word] for word in words if word in self.numbers]
        if not asked:
            return np.zeros(len(self.lengths), dtype=np.float32)
        index = bm25s.BM25(method="lucene")
        index.nonoccurrence_array = None
        texts = len(self.lengths)
        index.scores = {"data": self.values, "indices": self.places, "indptr": self.starts, "num_docs": texts}
        found: np.ndarray = index.get_scores_from_ids(asked)
        return found


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of a search space."""

    shards: Sequence[PostingShard]
    nbytes: int
    """Size of a single index of the space, regardless of how it is divided."""


def posting_shard(counts: WordCounts) -> PostingShard:
    """Return the words of some texts by columns, not yet weighed."""
    from scipy import sparse

    shape = (len(counts.lengths), max(len(counts.vocabulary), 1))
    starts = np.concatenate(([0], counts.ends))
    # Counts are small integers, which float32 represents exactly.
    matrix: Any = sparse.csr_matrix((counts.counts.astype(np.float32), counts.words, starts), shape=shape).tocsc()
    numbers = {word: number for number, word in enumerate(counts.vocabulary)}
    columns = matrix.indptr[: len(numbers) + 1].astype(np.int64)
    return PostingShard(numbers, counts.lengths, columns, matrix.indices.astype(np.int32), matrix.data)


def build_postings(texts: Iterable[str], *, k1: float, b: float) -> Postings:
    """Return the postings of texts by Lucene's BM25; texts are read once, and only a few are held."""
    memory = _BoundedMemory()
    counted: list[PostingShard] = []
    parts: list[Frequencies] = []
    for counts in _counted(texts):
        parts.append(frequencies_of(counts))
        counted.append(memory.keep(posting_shard(counts)))
    numbers: dict[str, int] = {}
    for word in itertools.chain.from_iterable(part.words for part in parts):
        numbers.setdefault(word, len(numbers))
    everything = total((_spread(part, numbers) for part in parts), tuple(numbers))
    weights = everything.weights()
    for shard in counted:
        own = weights[[numbers[word] for word in shard.numbers]]
        shard.weigh(own, mean=everything.mean, k1=k1, b=b)
    return Postings(counted, everything.nbytes)


def _counted(texts: Iterable[str]) -> Iterator[WordCounts]:
    counter, rest = WordCounter(), iter(texts)
    while held := list(itertools.islice(rest, 1)):
        yield counter.count(itertools.chain(held, itertools.islice(rest, SHARD - 1)))


def _spread(part: Frequencies, numbers: Mapping[str, int]) -> Frequencies:
    """Return a part's numbers for the words of all parts."""
    holding = np.zeros(len(numbers), dtype=np.int64)
    holding[[numbers[word] for word in part.words]] = part.holding
    return part._replace(words=tuple(numbers), holding=holding)


class _BoundedMemory:
    """Keeps shards in memory up to a limit, and the others in temporary files that are removed with them."""

    def __init__(self) -> None:
        self._left = LARGEST_IN_MEMORY

    def keep(self, shard: PostingShard) -> PostingShard:
        """Return the shard with its postings in memory or in a file."""
        self._left -= int(shard.starts.nbytes + shard.places.nbytes + shard.values.nbytes)
        if self._left >= 0:
            return shard
        return replace(shard, places=_mapped(shard.places), values=_mapped(shard.values))


def _mapped(values: np.ndarray) -> Any:  # noqa: ANN401 - an array
    if not len(values):
        return values
    made = mapped_array(values.shape, values.dtype)
    made[:] = values
    return made
