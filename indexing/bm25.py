"""BM25 over the words of code, with identifiers whole and split."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.code_words import code_words
from indexing.encoders.texts import readable
from indexing.postings import Postings, build_postings
from indexing.ties import best_of_shards
from indexing.types import Hit, Index, QueryBatch, SearchSpace


@dataclass(frozen=True, kw_only=True)
class BM25:
    """Lucene's BM25; a chunk that shares no word with the query is no hit."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        positive(self, "k1")
        if not 0 <= self.b <= 1:
            raise UsageError(f"b must be between 0 and 1, not {self.b}")

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the depth chunks of highest score per query; equal scores in the order of position."""
        return self.prepare(space).search(queries, depth=depth)

    def prepare(self, space: SearchSpace) -> Index:
        """Return the postings of the space, ready to be asked."""
        postings = build_postings(space.texts, k1=self.k1, b=self.b)
        return Index(postings.nbytes, functools.partial(_search, postings))


def _search(postings: Postings, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
    numbers = postings.vocabulary
    runs: list[list[Hit]] = []
    for text in queries.texts:
        words = [numbers[word] for word in code_words(readable(text)) if word in numbers]
        scores = (shard.scores(words) for shard in postings.shards) if words and depth > 0 else ()
        runs.append(best_of_shards(scores, depth=depth, above=0.0))
    return runs
