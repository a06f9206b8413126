"""Exact search by inner product with FAISS, or by an approximate index."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.approximate import Tuning, approximate_search, build_approximate, stored_bytes
from indexing.composed import Composed, ExactSearch, Prepared, Reads
from indexing.exact import VectorsOf, nearest, scored, settled
from indexing.found import Found, none_found
from indexing.frequencies import Frequencies
from indexing.types import Index, QueryBatch, SearchSpace, Vectors

_SPARE = 8
"""Hits requested from an approximate index beyond the depth, so that near ties can be ordered."""


@dataclass(frozen=True, kw_only=True)
class VectorSearch:
    """The chunks whose vectors are nearest to the query's."""

    reads: ClassVar[Reads] = "vectors"

    def prepare(self, space: SearchSpace) -> Prepared:
        """Return the space's vectors, ready to be searched."""
        size = 0 if space.vectors is None else 4 * space.vectors.size
        return Prepared(size, functools.partial(_find, space, nearest))

    def prepare_shard(self, shard: SearchSpace, frequencies: Frequencies | None) -> Prepared:  # noqa: ARG002 - as every search
        """Return the vectors of a part of a space; they depend on no other part."""
        return self.prepare(shard)

    def join(self, parts: Sequence[Found], queries: QueryBatch, vectors_of: VectorsOf, *, depth: int) -> Found:
        """Return the best of all parts, near ties by their exact scores."""
        if queries.vectors is None or not len(queries.vectors) or depth <= 0:
            return none_found(len(queries.texts))
        return settled(parts, vectors_of, np.ascontiguousarray(queries.vectors, dtype=np.float32), depth=depth)


@dataclass(frozen=True, kw_only=True)
class Dense(Composed):
    """The chunks whose vectors are nearest to the query's."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = True

    index: Literal["flat", "hnsw", "ivf"] = "flat"
    """flat is exact; the others are for millions of chunks, and `diagnostics` reports what they miss."""
    links: int = 32
    """hnsw: neighbours of each node."""
    effort: int = 64
    """hnsw: candidates kept while searching; ivf: lists that are read."""
    lists: int | None = None
    """ivf: number of lists; None means four times the square root of the number of chunks."""

    def __post_init__(self) -> None:
        positive(self, "links", "effort", *(["lists"] if self.lists is not None else []))

    @property
    def searches(self) -> tuple[ExactSearch, ...]:
        """The vector search; an approximate index covers the whole space."""
        return (VectorSearch(),) if self.index == "flat" else ()

    def combine(self, found: Sequence[Found], vectors_of: VectorsOf, *, depth: int) -> Found:  # noqa: ARG002 - as every retriever
        """Return the results of the search."""
        return found[0]

    def prepare(self, space: SearchSpace) -> Index:
        """Prepare the space's vectors; an approximate index is built here."""
        if self.index == "flat" or space.vectors is None or not len(space.vectors):
            return self._asked(space, VectorSearch().prepare(space))
        tuning = Tuning(self.index, self.links, self.effort, self.lists)
        built = build_approximate(np.ascontiguousarray(space.vectors, dtype=np.float32), tuning)

        def propose(chunks: Vectors, asked: Vectors, *, depth: int) -> Found:
            _, positions = approximate_search(built, asked, tuning, wide=min(len(chunks), depth + _SPARE))
            return scored(chunks, asked, positions)

        return self._asked(space, Prepared(stored_bytes(built), functools.partial(_find, space, propose)))

    def _asked(self, space: SearchSpace, prepared: Prepared) -> Index:
        return Index(prepared.bytes, functools.partial(self._search, space, [prepared], (VectorSearch(),)))

    def diagnostics(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> dict[str, float]:
        """Return the share of the exact results that an approximate index finds; nothing if the search is exact."""
        if self.index == "flat":
            return {}
        exact = Dense().search(space, queries, depth=depth)
        found = self.search(space, queries, depth=depth)
        wanted = sum(len(run) for run in exact)
        both = sum(
            len({hit.position for hit in one} & {hit.position for hit in other})
            for one, other in zip(exact, found, strict=True)
        )
        return {"recall_against_exact": both / wanted if wanted else 1.0}


def _find(space: SearchSpace, near: Callable[..., Found], queries: QueryBatch, *, depth: int) -> Found:
    chunks, asked = _vector_pair(space, queries)
    if not len(chunks) or not len(asked) or depth <= 0:
        return none_found(len(queries.texts))
    return near(chunks, asked, depth=depth)


def _vector_pair(space: SearchSpace, queries: QueryBatch) -> tuple[Vectors, Vectors]:
    """Return both sides as FAISS needs them: float32, contiguous, of equal width."""
    if space.vectors is None or queries.vectors is None:
        raise UsageError("this retriever compares vectors, and there are none: choose an embedder")
    chunks = np.ascontiguousarray(space.vectors, dtype=np.float32)
    asked = np.ascontiguousarray(queries.vectors, dtype=np.float32)
    if len(chunks) and len(asked) and chunks.shape[1] != asked.shape[1]:
        raise UsageError(
            f"chunks have {chunks.shape[1]} dimensions, queries {asked.shape[1]}: embed both with one model"
        )
    return chunks, asked
