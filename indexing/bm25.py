"""BM25 over the words of code, with identifiers whole and split."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.code_words import code_words
from indexing.composed import Composed, ExactSearch, Prepared, Reads
from indexing.encoders.texts import readable
from indexing.exact import VectorsOf
from indexing.found import Found, in_order, none_found, side_by_side, table
from indexing.frequencies import Frequencies
from indexing.postings import PostingShard, build_postings, posting_shard
from indexing.ties import best_of_all
from indexing.types import QueryBatch, SearchSpace
from indexing.word_counts import WordCounter


@dataclass(frozen=True, kw_only=True)
class WordSearch:
    """Lucene's BM25; a chunk that shares no word with the query is no hit."""

    reads: ClassVar[Reads] = "words"

    k1: float
    b: float

    def prepare(self, space: SearchSpace) -> Prepared:
        """Return the postings of the space."""
        postings = build_postings(space.texts, k1=self.k1, b=self.b)
        return Prepared(postings.nbytes, functools.partial(_find, postings.shards))

    def prepare_shard(self, shard: SearchSpace, frequencies: Frequencies | None) -> Prepared:
        """Return the postings of a part of a space; the index size is counted with the frequencies of the whole."""
        if frequencies is None:
            raise ValueError("a part of a space is scored by the frequencies of the whole")
        words = shard.words or posting_shard(WordCounter().count(shard.texts)).only(frequencies.words)
        made = replace(words, values=words.values.copy())
        made.weigh(frequencies.weights(), mean=frequencies.mean, k1=self.k1, b=self.b)
        return Prepared(0, functools.partial(_find, [made]))

    def join(self, parts: Sequence[Found], queries: QueryBatch, vectors_of: VectorsOf, *, depth: int) -> Found:  # noqa: ARG002 - as every search
        """Return the best of all parts: a text's score does not depend on its part."""
        return _joined(parts, depth=depth)


def _find(shards: Sequence[PostingShard], queries: QueryBatch, *, depth: int) -> Found:
    """Return the best texts of consecutive shards."""
    starts = np.cumsum([0, *(len(shard.lengths) for shard in shards)]).tolist()
    rows: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in shards]
    for text in queries.texts:
        words = code_words(readable(text))
        for shard, start, found in zip(shards, starts, rows, strict=False):
            scores = shard.scores(words)
            chosen = best_of_all(scores, depth=depth, above=0.0)
            found.append((chosen + start, scores[chosen]))
    return (
        _joined([table(found, depth=depth) for found in rows], depth=depth) if rows else none_found(len(queries.texts))
    )


def _joined(parts: Sequence[Found], *, depth: int) -> Found:
    return parts[0] if len(parts) == 1 else in_order(side_by_side(parts), depth=depth)


@dataclass(frozen=True, kw_only=True)
class BM25(Composed):
    """Lucene's BM25; a chunk that shares no word with the query is no hit."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        positive(self, "k1")
        if not 0 <= self.b <= 1:
            raise UsageError(f"b must be between 0 and 1, not {self.b}")

    @property
    def searches(self) -> tuple[ExactSearch, ...]:
        """The word search."""
        return (WordSearch(k1=self.k1, b=self.b),)

    def combine(self, found: Sequence[Found], vectors_of: VectorsOf, *, depth: int) -> Found:  # noqa: ARG002 - as every retriever
        """Return the results of the search."""
        return found[0]
