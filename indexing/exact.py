"""Exact search by inner product with FAISS, in an order that does not depend on shards, threads, batches or duplicates.

FAISS proposes rows. A row's score is then its own inner product with the query, which depends on nothing else; scores
so close that rounding may have changed their order are recomputed in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from indexing.encoders.batches import cores
from indexing.found import Found, in_order, narrowed, side_by_side
from indexing.types import Vectors

_NEAR = 4e-6
"""FAISS scores closer than this may be in the wrong order because of rounding."""
_AT_ONCE = 8192
"""Scores recomputed in one step, to bound memory."""
_ROWS_INDEXED = 65_536
"""Rows copied into an index at a time when a tie must be followed beyond the depth."""
_SPARE = 8
"""Hits requested beyond the depth, to see whether the last place is tied."""
_CELLS_AT_ONCE = 400_000
"""Candidates ordered in one step, whose vectors may be requested together."""

VectorsOf = Callable[[np.ndarray], Vectors]
"""Ascending positions → their vectors, one row each."""


def nearest(chunks: Vectors, asked: Vectors, *, depth: int) -> Found:
    """Return the depth nearest rows of each query, as input for `settled`."""
    import faiss

    with faiss_threads():
        wide = min(len(chunks), depth + _SPARE)
        # Not an index, which would copy all vectors: they may be a memory-mapped file.
        proposed, positions = faiss.knn(asked, chunks, wide, metric=faiss.METRIC_INNER_PRODUCT)
        found = scored(chunks, asked, positions)
        # Ties of the last place may continue beyond the returned rows.
        beyond = wide < len(chunks)
        open_ended = np.flatnonzero(proposed[:, depth - 1] - proposed[:, -1] < 2 * _NEAR) if beyond else ()
        chosen = _chosen(found, chunks.__getitem__, asked, depth=depth)
        for row in map(int, open_ended):
            query = asked[row : row + 1]
            near = _all_above(chunks, query, float(proposed[row, depth - 1]) - 2 * _NEAR)
            one = _chosen(scored(chunks, query, near[None]), chunks.__getitem__, query, depth=depth)
            chosen.positions[row], chosen.scores[row] = one.positions[0], one.scores[0]
    return chosen


def settled(parts: Sequence[Found], vectors_of: VectorsOf, asked: Vectors, *, depth: int) -> Found:
    """Return the depth best results of all shards: float64 scores where the order is in doubt, ties by position.

    Each shard must have returned its own depth nearest rows.
    """
    step = max(_CELLS_AT_ONCE // max(sum(part.positions.shape[1] for part in parts), 1), 1)
    made = []
    for start in range(0, len(asked), step):
        rows = slice(start, start + step)
        some = [part.at(rows) for part in parts]
        chosen = some[0] if len(some) == 1 else _chosen(side_by_side(some), vectors_of, asked[rows], depth=depth)
        made.append(in_order(_recomputed(chosen, vectors_of, asked[rows]), depth=depth))
    return Found(np.concatenate([part.positions for part in made]), np.concatenate([part.scores for part in made]))


def scored(chunks: Vectors, asked: Vectors, positions: np.ndarray) -> Found:
    """Return positions with each pair's own inner product, which does not depend on the row's place or neighbours."""
    import faiss

    library: Any = faiss  # the stubs lack the function
    wanted = np.maximum(positions, 0).astype(np.int64)
    scores = np.empty(wanted.shape, dtype=np.float32)
    pointers = map(library.swig_ptr, (scores, asked, chunks, wanted))
    library.fvec_inner_products_by_idx(*pointers, chunks.shape[1], *wanted.shape)
    return Found(positions, scores)


def _chosen(found: Found, vectors_of: VectorsOf, asked: Vectors, *, depth: int) -> Found:
    """Return the depth best of each query by their exact scores, in the order of the given scores."""
    # In float64, so that closeness is judged in the same way here and below.
    found = narrowed(Found(found.positions, found.scores.astype(np.float64)), depth=depth, near=_NEAR)
    ranked = in_order(found, depth=found.positions.shape[1])
    if ranked.positions.shape[1] <= depth:
        return ranked
    scores = np.where(ranked.positions >= 0, ranked.scores, -np.inf)
    with np.errstate(invalid="ignore"):  # where there is no hit
        tight = scores[:, depth - 1] - scores[:, depth] < _NEAR
    rows = np.flatnonzero(tight)
    groups = np.abs(scores[rows] - scores[rows, depth - 1 : depth]) <= _NEAR
    exact = _exact_at(ranked.positions[rows], groups, vectors_of, asked[rows])
    for number, row in enumerate(rows.tolist()):
        group = np.flatnonzero(groups[number])
        order = group[np.lexsort((ranked.positions[row, group], -exact[number, group]))]
        # The best come first; otherwise the order does not change.
        kept = np.sort(order[: depth - int(group[0])])
        columns = np.concatenate((np.arange(group[0]), kept))
        ranked.positions[row, :depth] = ranked.positions[row, columns]
        ranked.scores[row, :depth] = ranked.scores[row, columns]
    return Found(ranked.positions[:, :depth], ranked.scores[:, :depth].astype(np.float32))


def _recomputed(found: Found, vectors_of: VectorsOf, asked: Vectors) -> Found:
    """Return the same with float64 scores where one is close to the next: equal rows have equal scores."""
    real = found.positions >= 0
    scores = np.where(real, found.scores, np.finfo(np.float32).min).astype(np.float64)
    near = (scores[:, :-1] - scores[:, 1:]) < _NEAR
    doubtful = np.zeros(scores.shape, dtype=np.bool_)
    doubtful[:, :-1] |= near
    doubtful[:, 1:] |= near
    doubtful &= real
    return Found(found.positions, np.where(doubtful, _exact_at(found.positions, doubtful, vectors_of, asked), scores))


def _exact_at(positions: np.ndarray, where: np.ndarray, vectors_of: VectorsOf, asked: Vectors) -> np.ndarray:
    """Return the float64 scores of these cells of a table, and nothing for the others."""
    scores = np.zeros(positions.shape)
    rows, columns = np.nonzero(where)
    wanted = np.unique(positions[rows, columns])
    if not len(wanted):
        return scores
    vectors = vectors_of(wanted)
    for start in range(0, len(rows), _AT_ONCE):
        row, column = rows[start : start + _AT_ONCE], columns[start : start + _AT_ONCE]
        some = vectors[np.searchsorted(wanted, positions[row, column])]
        scores[row, column] = exact_scores(some, asked[row])
    return scores


def exact_scores(some: Vectors, others: Vectors) -> np.ndarray:
    """Return the inner product of each pair of rows in float64, summed in one order: equal rows, equal scores."""
    scores: np.ndarray = (some.astype(np.float64) * others.astype(np.float64)).sum(axis=1)
    return scores


def _all_above(chunks: Vectors, query: Vectors, floor: float) -> np.ndarray:
    """Return every row above the floor, ascending, reading some rows at a time."""
    import faiss

    rows = []
    for start in range(0, len(chunks), _ROWS_INDEXED):
        index = faiss.IndexFlatIP(chunks.shape[1])
        index.add(chunks[start : start + _ROWS_INDEXED])
        _, _, found = index.range_search(query, floor)
        rows.append(found + start)
    return np.sort(np.concatenate(rows))


@contextmanager
def faiss_threads(count: int | None = None) -> Iterator[Any]:
    """Set the number of FAISS threads, by default one per processor."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count or cores())
    try:
        yield faiss
    finally:
        faiss.omp_set_num_threads(before)
