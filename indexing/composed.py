"""Retrievers made of exact searches that can be split: shards are searched apart, and what they found is put together.

A retriever says which searches it is made of, and how their rankings become one. Both the search of one space in this
process and the search of its shards on several machines are made of the same steps, so they find the same.
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
"""What of a search space a search looks at."""


class Prepared(NamedTuple):
    """A shard made ready for one search."""

    bytes: int
    find: Callable[..., Found]
    """`find(queries, *, depth)`: the shard's best rows for each query."""


class ExactSearch(Protocol):
    """One way to find chunks whose results in shards can be joined to those in the whole."""

    reads: ClassVar[Reads]

    def prepare(self, space: SearchSpace) -> Prepared:
        """Return the space, ready to be asked."""

    def prepare_shard(self, shard: SearchSpace, frequencies: Frequencies | None) -> Prepared:
        """Return a part of a larger space, of whose words these are the frequencies."""

    def join(self, parts: Sequence[Found], queries: QueryBatch, vectors_of: VectorsOf, *, depth: int) -> Found:
        """Return the best of what was found in all shards, in order; positions are those of the whole space."""


class Composed(ABC):
    """A retriever that is made of exact searches."""

    @property
    @abstractmethod
    def searches(self) -> tuple[ExactSearch, ...]:
        """What it is made of; nothing where this one cannot be split."""

    def reach(self, depth: int) -> int:
        """Return how deep each search must go for a ranking of this depth."""
        return depth

    @abstractmethod
    def combine(self, found: Sequence[Found], vectors_of: VectorsOf, *, depth: int) -> Found:
        """Return one ranking for each query from those of the searches."""

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the depth best chunks per query; equal scores in the order of position."""
        return self.prepare(space).search(queries, depth=depth)

    def prepare(self, space: SearchSpace) -> Index:
        """Return the space, ready to be asked."""
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
    """Return how to look up rows of these vectors."""
    there = np.zeros((0, 0), dtype=np.float32) if vectors is None else vectors
    return there.__getitem__
