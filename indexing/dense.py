"""Exact search by inner product with FAISS, in an order that threads, batches and duplicates cannot change."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.approximate import Tuning, approximate_search, build_approximate, stored_bytes
from indexing.encoders.batches import cores
from indexing.types import Hit, Index, QueryBatch, SearchSpace, Vectors

_NEAR = 4e-6
"""Scores of FAISS closer than this may be in the wrong order by rounding: they are computed again, exactly."""
_AT_ONCE = 8192
"""Scores that are computed again in one step: bounds the memory."""
_ROWS_INDEXED = 65_536
"""Rows that are copied into an index at a time where a tie must be followed beyond the depth."""
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
        return self.prepare(space).search(queries, depth=depth)

    def prepare(self, space: SearchSpace) -> Index:
        """Return the space's vectors, ready to be asked; an approximate index is built here."""
        if self.index == "flat" or space.vectors is None or not len(space.vectors):
            return vector_index(space, exact_search)
        tuning = Tuning(self.index, self.links, self.effort, self.lists)
        built = build_approximate(np.ascontiguousarray(space.vectors, dtype=np.float32), tuning)

        def search(chunks: Vectors, asked: Vectors, *, depth: int) -> list[list[Hit]]:
            wide = min(len(chunks), depth + _SPARE)
            scores, positions = approximate_search(built, asked, tuning, wide=wide)
            return settle(chunks, asked, scores, positions, depth=depth)

        return Index(stored_bytes(built), vector_index(space, search).search)

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


def vector_index(space: SearchSpace, search: Callable[..., list[list[Hit]]]) -> Index:
    """Return the space as an index by its vectors; ``search(chunks, asked, *, depth)`` is asked where there are any."""
    size = 0 if space.vectors is None else 4 * space.vectors.size
    return Index(size, functools.partial(_search_vectors, space, search))


def _search_vectors(
    space: SearchSpace, search: Callable[..., list[list[Hit]]], queries: QueryBatch, *, depth: int
) -> list[list[Hit]]:
    chunks, asked = vector_pair(space, queries)
    if not len(chunks) or not len(asked) or depth <= 0:
        return [[] for _ in queries.texts]
    return search(chunks, asked, depth=depth)


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

    with faiss_threads():
        wide = min(len(chunks), depth + _SPARE)
        # Not an index, which would hold a copy of all vectors: they may be a memory-mapped file.
        scores, positions = faiss.knn(asked, chunks, wide, metric=faiss.METRIC_INNER_PRODUCT)
        runs = settle(chunks, asked, scores, positions, depth=depth)
        for row in _open_ended(scores, depth=depth, total=len(chunks)):
            floor = float(scores[row, depth - 1]) - _NEAR
            near, found = _all_above(chunks, asked[row : row + 1], floor)
            order = np.argsort(-near, kind="stable")
            runs[row] = settle(chunks, asked[row : row + 1], near[None, order], found[None, order], depth=depth)[0]
    return runs


def _all_above(chunks: Vectors, query: Vectors, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores and rows of every chunk over the floor, some rows at a time."""
    import faiss

    scores, rows = [], []
    for start in range(0, len(chunks), _ROWS_INDEXED):
        index = faiss.IndexFlatIP(chunks.shape[1])
        index.add(chunks[start : start + _ROWS_INDEXED])
        _, near, found = index.range_search(query, floor)
        scores.append(near)
        rows.append(found + start)
    return np.concatenate(scores), np.concatenate(rows)


def settle(
    chunks: Vectors, asked: Vectors, scores: np.ndarray, positions: np.ndarray, *, depth: int
) -> list[list[Hit]]:
    """Return the runs of a FAISS search with near-equal scores computed exactly and put in the common order."""
    real = positions >= 0
    settled = np.where(real, scores, np.finfo(np.float32).min).astype(np.float64)
    near = (settled[:, :-1] - settled[:, 1:]) < _NEAR
    doubtful = np.zeros(scores.shape, dtype=np.bool_)
    doubtful[:, :-1] |= near
    doubtful[:, 1:] |= near
    rows, columns = np.nonzero(doubtful & real)
    for start in range(0, len(rows), _AT_ONCE):
        row, column = rows[start : start + _AT_ONCE], columns[start : start + _AT_ONCE]
        settled[row, column] = exact_scores(chunks[positions[row, column]], asked[row])
    order = np.lexsort((positions, -settled))[:, :depth]
    ranked, values = np.take_along_axis(positions, order, axis=1), np.take_along_axis(settled, order, axis=1)
    counts = np.minimum(real.sum(axis=1), depth).tolist()
    # What Hit(position, score) does, without a call in Python for each of a million hits.
    with _no_collection():
        return [
            list(map(tuple.__new__, repeat(Hit), zip(places[:count], points[:count], strict=True)))
            for places, points, count in zip(ranked.tolist(), values.tolist(), counts, strict=True)
        ]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold the garbage collector: the many new tuples would set it off again and again, and numbers form no cycles.

    Each time it would go through all objects of the process, and a loaded model has half a million of them.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def exact_scores(some: Vectors, others: Vectors) -> np.ndarray:
    """Return the inner product of each pair of rows in float64, all summed in one order: equal rows, equal scores."""
    scores: np.ndarray = (some.astype(np.float64) * others.astype(np.float64)).sum(axis=1)
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
