"""Exact search by inner product with FAISS, in an order that threads, batches and duplicates cannot change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.approximate import Tuning, approximate_search
from indexing.encoders.batches import cores
from indexing.ties import best
from indexing.types import Hit, QueryBatch, SearchSpace, Vectors

_NEAR = 1e-5
"""Scores of FAISS closer than this may be in the wrong order by rounding: they are computed again, exactly."""
_SPARE = 8
"""Hits asked for beyond the depth, to see whether the last place is tied."""


@dataclass(frozen=True, kw_only=True)
class Dense:
    """The chunks whose vectors are nearest to the query's."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = True

    index: Literal["flat", "hnsw", "ivf"] = "flat"
    """flat is exact; the others are for millions of chunks, and `diagnostics` says what they miss."""
    links: int = 32
    """hnsw: neighbours of each node."""
    effort: int = 64
    """hnsw: candidates kept while searching; ivf: lists that are read."""
    lists: int | None = None
    """ivf: how many lists; None means four times the square root of the number of chunks."""

    def __post_init__(self) -> None:
        positive(self, "links", "effort", *(["lists"] if self.lists is not None else []))

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the depth nearest chunks per query; equal scores in the order of position."""
        chunks, asked = vector_pair(space, queries)
        if not len(chunks) or not len(asked) or depth <= 0:
            return [[] for _ in queries.texts]
        if self.index == "flat":
            return exact_search(chunks, asked, depth=depth)
        wide = min(len(chunks), depth + _SPARE)
        tuning = Tuning(self.index, self.links, self.effort, self.lists)
        scores, positions = approximate_search(chunks, asked, tuning, wide=wide)
        return settle(chunks, asked, scores, positions, depth=depth)

    def diagnostics(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> dict[str, float]:
        """Return the share of the exact results that an approximate index finds; nothing where search is exact."""
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


def vector_pair(space: SearchSpace, queries: QueryBatch) -> tuple[Vectors, Vectors]:
    """Return both sides as FAISS needs them: float32, contiguous, of one width."""
    if space.vectors is None or queries.vectors is None:
        raise UsageError("this retriever compares vectors, and there are none: choose an embedder")
    chunks = np.ascontiguousarray(space.vectors, dtype=np.float32)
    asked = np.ascontiguousarray(queries.vectors, dtype=np.float32)
    if len(chunks) and len(asked) and chunks.shape[1] != asked.shape[1]:
        raise UsageError(
            f"chunks have {chunks.shape[1]} dimensions, queries {asked.shape[1]}: embed both with one model"
        )
    return chunks, asked


def exact_search(chunks: Vectors, asked: Vectors, *, depth: int) -> list[list[Hit]]:
    """Return the depth nearest rows per query, best first; the same for any number of threads."""
    import faiss

    index = faiss.IndexFlatIP(chunks.shape[1])
    with faiss_threads():
        index.add(chunks)
        wide = min(len(chunks), depth + _SPARE)
        scores, positions = index.search(asked, wide)
        runs = settle(chunks, asked, scores, positions, depth=depth)
        for row in _open_ended(scores, depth=depth, total=len(chunks)):
            floor = float(scores[row, depth - 1]) - _NEAR
            _, near, found = index.range_search(asked[row : row + 1], floor)
            order = np.argsort(-near, kind="stable")
            runs[row] = settle(chunks, asked[row : row + 1], near[None, order], found[None, order], depth=depth)[0]
    return runs


def settle(
    chunks: Vectors, asked: Vectors, scores: np.ndarray, positions: np.ndarray, *, depth: int
) -> list[list[Hit]]:
    """Return the runs of a FAISS search with near-equal scores computed exactly and put in the common order."""
    near = (scores[:, :-1] - scores[:, 1:]) < _NEAR
    doubtful = np.zeros(scores.shape, dtype=np.bool_)
    doubtful[:, :-1] |= near
    doubtful[:, 1:] |= near
    settled = scores.astype(np.float64)
    for row in np.flatnonzero(doubtful.any(axis=1)).tolist():
        columns = np.flatnonzero(doubtful[row] & (positions[row] >= 0))
        settled[row, columns] = exact_scores(chunks, positions[row, columns], asked[row])
    runs = []
    for row, found in enumerate(positions):
        if doubtful[row].any() or (found < 0).any():
            real = found >= 0
            runs.append(best(settled[row, real], found[real], depth=depth))
        else:
            runs.append(
                [Hit(*pair) for pair in zip(found[:depth].tolist(), settled[row, :depth].tolist(), strict=True)]
            )
    return runs


def exact_scores(chunks: Vectors, positions: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return inner products in float64, each row summed in the same order, so that equal rows have equal scores."""
    scores: np.ndarray = (chunks[positions].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return scores


def _open_ended(scores: np.ndarray, *, depth: int, total: int) -> Iterator[int]:
    """Yield the queries whose last place may be shared with chunks that were not returned."""
    if scores.shape[1] < total:
        yield from np.flatnonzero(scores[:, depth - 1] - scores[:, -1] < _NEAR).tolist()


@contextmanager
def faiss_threads(count: int | None = None) -> Iterator[Any]:
    """Let FAISS use a fixed number of threads, by default one per processor."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count or cores())
    try:
        yield faiss
    finally:
        faiss.omp_set_num_threads(before)
