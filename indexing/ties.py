"""One order for all retrievers: score descending, then position ascending."""

from __future__ import annotations

import numpy as np

from indexing.types import Hit


def best(scores: np.ndarray, positions: np.ndarray, *, depth: int) -> list[Hit]:
    """Return the hits with the highest scores, at most ``depth``; equal scores by position."""
    return [Hit(int(positions[at]), float(scores[at])) for at in best_places(scores, positions, depth=depth)]


def best_places(scores: np.ndarray, positions: np.ndarray, *, depth: int) -> np.ndarray:
    """Return the indices of the best, at most ``depth``, in order."""
    order: np.ndarray = np.lexsort((positions, -scores))[:depth]
    return order


def best_of_all(scores: np.ndarray, *, depth: int, above: float = -np.inf) -> np.ndarray:
    """Return the best positions, in order, given the score of each; those not over ``above`` are left out."""
    positions = np.flatnonzero(scores > above)
    kept = scores[positions]
    if len(kept) > depth > 0:
        # Everything tied with the last place remains a candidate, so that position decides, not the partition.
        last = np.partition(kept, len(kept) - depth)[len(kept) - depth]
        positions = positions[kept >= last]
    chosen: np.ndarray = positions[np.lexsort((positions, -scores[positions]))[: max(depth, 0)]]
    return chosen
