"""One order for all retrievers: score descending, then position ascending."""

from __future__ import annotations

import numpy as np

from indexing.types import Hit


def best(scores: np.ndarray, positions: np.ndarray, *, depth: int) -> list[Hit]:
    """Return the hits of highest score, at most ``depth``; equal scores are in the order of their positions."""
    return [Hit(int(positions[at]), float(scores[at])) for at in best_places(scores, positions, depth=depth)]


def best_places(scores: np.ndarray, positions: np.ndarray, *, depth: int) -> np.ndarray:
    """Return where in the arrays the best are, at most ``depth``, in order."""
    order: np.ndarray = np.lexsort((positions, -scores))[:depth]
    return order


def best_of_all(scores: np.ndarray, *, depth: int, above: float = -np.inf) -> np.ndarray:
    """Return the best positions, in order, where each has a score; those not over ``above`` are left out."""
    positions = np.flatnonzero(scores > above)
    kept = scores[positions]
    if len(kept) > depth > 0:
        # Everything that ties with the last place stays a candidate, so that position decides and not the partition.
        last = np.partition(kept, len(kept) - depth)[len(kept) - depth]
        positions = positions[kept >= last]
    chosen: np.ndarray = positions[np.lexsort((positions, -scores[positions]))[: max(depth, 0)]]
    return chosen
