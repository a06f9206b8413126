"""Retrievers composed of exact searches that can be split: shards are searched separately, and their results joined.

A retriever declares its searches, and how to combine their rankings. The search of one space in this process and the
search of its shards on several machines take the same steps, so they return the same results.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from indexing.exact import VectorsOf
from indexing.found import Found
from indexing.frequencies import Frequencies
from indexing.types import Hit, Index, QueryBatch, SearchSpace, Vectors

Reads = Literal["words", "vectors"]
"""The part of a search space that a search reads."""


class Prepared(NamedTuple):
    """A shard prepared for one search."""

    bytes: int
    find: Callable[..., Found]
    """`find(queries, *, depth)`: the shard's best rows for each query."""


class ExactSearch(Protocol):
    """A search whose results in shards can be joined into those of the whole space."""

    reads: ClassVar[Reads]

    def prepare(self, space: SearchSpace) -> Prepared:
        """Prepare the space for queries."""

    def prepare_shard(self, shard: SearchSpace, frequencies: Frequencies | None) -> Prepared:
        """Prepare a part of a larger space, given the word frequencies of the whole."""

    def join(self, parts: Sequence[Found], queries: QueryBatch, vectors_of: VectorsOf, *, depth: int) -> Found:
        """Return the best of the results of all shards, in order; positions are those of the whole space."""


class Composed(ABC):
    """A retriever composed of exact searches."""

    @property
    @abstractmethod
    def searches(self) -> tuple[ExactSearch, ...]:
        """The searches it is composed of; none if it cannot be split."""

    def reach(self, depth: int) -> int:
        """Return the depth of each search needed for a ranking of this depth."""
        return depth

    @abstractmethod
    def combine(self, found: Sequence[Found], vectors_of: VectorsOf, *, depth: int) -> Found:
        """Combine the rankings of the searches into one per query."""

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the depth best chunks per query; equal scores in the order of position."""
        return self.prepare(space).search(queries, depth=depth)

    def prepare(self, space: SearchSpace) -> Index:
        """Prepare the space for queries."""
        prepared = [search.prepare(space) for search in self.searches]
        size = sum(each.bytes for each in prepared)
        return Index(size, functools.partial(self._search, space, prepared, self.searches))

    def _search(
        self,
        space: SearchSpace,
        prepared: Sequence[Prepared],
        searches: Sequence[ExactSearch],
        queries: QueryBatch,
        *,
        depth: int,
    ) -> list[list[Hit]]:
        wide = self.reach(depth) if depth > 0 else 0
        vectors_of = vectors_in(space.vectors)
        found = [
            search.join([each.find(queries, depth=wide)], queries, vectors_of, depth=wide)
            for search, each in zip(searches, prepared, strict=True)
        ]
        return self.combine(found, vectors_of, depth=depth).hits()


def vectors_in(vectors: Vectors | None) -> VectorsOf:
    """Return a look-up for rows of these vectors."""
    there = np.zeros((0, 0), dtype=np.float32) if vectors is None else vectors
    return there.__getitem__
