"""Search results for several queries as a table, which shards and machines pass on; hits are built last."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import NamedTuple

import numpy as np

from indexing.types import Hit


class Found(NamedTuple):
    """One row per query; a position of -1 is no hit."""

    positions: np.ndarray
    scores: np.ndarray

    def at(self, rows: slice | np.ndarray) -> Found:
        """Return the results for some of the queries."""
        return Found(self.positions[rows], self.scores[rows])

    def hits(self) -> list[list[Hit]]:
        """Return the hits of each query, in order; cells without a hit come last."""
        counts = (self.positions >= 0).sum(axis=1).tolist()
        # The same as Hit(position, score), without a Python call for each of a million hits.
        with _no_collection():
            return [
                list(map(tuple.__new__, repeat(Hit), zip(places[:count], points[:count], strict=True)))
                for places, points, count in zip(
                    self.positions.tolist(), self.scores.astype(np.float64).tolist(), counts, strict=True
                )
            ]


def none_found(queries: int) -> Found:
    """Return an empty result."""
    return Found(np.zeros((queries, 0), dtype=np.int64), np.zeros((queries, 0), dtype=np.float32))


def table(
    rows: Sequence[tuple[np.ndarray, np.ndarray]], *, depth: int, dtype: np.typing.DTypeLike = np.float32
) -> Found:
    """Return the positions and scores of each query as a table with at most this many columns."""
    wide = min(max((len(positions) for positions, _ in rows), default=0), depth)
    found = Found(np.full((len(rows), wide), -1, np.int64), np.zeros((len(rows), wide), dtype))
    for row, (positions, scores) in enumerate(rows):
        found.positions[row, : len(positions)], found.scores[row, : len(positions)] = positions, scores
    return found


def side_by_side(parts: Sequence[Found]) -> Found:
    """Return all results for the same queries from several places, unordered."""
    return Found(
        np.concatenate([part.positions for part in parts], axis=1),
        np.concatenate([part.scores for part in parts], axis=1),
    )


def in_order(found: Found, *, depth: int) -> Found:
    """Return the best ``depth`` of each query: score descending, then position ascending."""
    if found.scores.dtype == np.float32:
        return _from_keys(np.sort(_narrowed_keys(_keys(found), depth=depth), axis=1)[:, :depth], found.positions.dtype)
    found = narrowed(found, depth=depth)
    scores = np.where(found.positions >= 0, found.scores, -np.inf)
    order = np.lexsort((found.positions, -scores))[:, :depth]
    return Found(np.take_along_axis(found.positions, order, 1), np.take_along_axis(found.scores, order, 1))


_LAST_KEY = np.uint64(2**64 - 1)


def _keys(found: Found) -> np.ndarray:
    """Return each hit as one number, smaller for better hits: the bits of its score, then its position."""
    bits = (found.scores + np.float32(0)).view(np.uint32)  # 0 and -0 are one score
    keys: np.ndarray = _flipped(bits).astype(np.uint64) << np.uint64(32) | found.positions.astype(np.uint32)
    keys[found.positions < 0] = _LAST_KEY
    return keys


def _narrowed_keys(keys: np.ndarray, *, depth: int) -> np.ndarray:
    return np.partition(keys, depth - 1, axis=1)[:, :depth] if 0 < depth < keys.shape[1] else keys


def _from_keys(keys: np.ndarray, dtype: np.dtype[np.integer]) -> Found:
    hits = keys != _LAST_KEY
    scores = _flipped((keys >> np.uint64(32)).astype(np.uint32)).view(np.float32)
    positions = (keys & np.uint64(2**32 - 1)).astype(dtype)
    return Found(np.where(hits, positions, dtype.type(-1)), np.where(hits, scores, np.float32(0)))


def _flipped(bits: np.ndarray) -> np.ndarray:
    """Return the bits of floats as numbers that fall as the floats rise, and convert such numbers back to bits."""
    positive = np.uint32(2**31 - 1)
    return np.where(bits > positive, bits, ~bits & positive)


def narrowed(found: Found, *, depth: int, near: float = 0.0) -> Found:
    """Return a smaller table that still has every hit that may be among the best, including ties of the last place.

    With ``near``, also hits that close behind the last place.
    """
    wide = found.positions.shape[1]
    if wide <= 2 * depth or not depth:  # to sort little is quicker than to divide it first
        return found
    scores = np.where(found.positions >= 0, found.scores, -np.inf)
    last = -np.partition(-scores, depth - 1, axis=1)[:, depth - 1 : depth]
    kept = int((scores >= last - near).sum(axis=1).max(initial=0))
    if kept == wide:
        return found
    columns = np.argpartition(-scores, kept - 1, axis=1)[:, :kept]
    return Found(np.take_along_axis(found.positions, columns, 1), np.take_along_axis(found.scores, columns, 1))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector: the many new tuples would trigger it repeatedly, and numbers form no cycles.

    Each collection would visit all objects of the process, and a loaded model has half a million of them.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
