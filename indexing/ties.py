"""One order for all retrievers: score descending, then position ascending."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from indexing.types import Hit


def best(scores: np.ndarray, positions: np.ndarray, *, depth: int) -> list[Hit]:
    """Return the hits of highest score, at most ``depth``; equal scores are in the order of their positions."""
    order = np.lexsort((positions, -scores))[:depth]
    return [Hit(int(positions[at]), float(scores[at])) for at in order]


def best_of_all(scores: np.ndarray, *, depth: int, above: float = -np.inf) -> list[Hit]:
    """Return the best hits where there is one score per position; those not over ``above`` are left out."""
    positions = np.flatnonzero(scores > above)
    kept = scores[positions]
    if len(kept) > depth:
        # Everything that ties with the last place stays a candidate, so that position decides and not the partition.
        last = np.partition(kept, len(kept) - depth)[len(kept) - depth]
        positions = positions[kept >= last]
    return best(scores[positions], positions, depth=depth)


def best_of_shards(shards: Iterable[np.ndarray], *, depth: int, above: float = -np.inf) -> list[Hit]:
    """Return the best hits where the scores of all positions come in parts, one after the other."""
    found: list[Hit] = []
    start = 0
    for scores in shards:
        found += [Hit(start + hit.position, hit.score) for hit in best_of_all(scores, depth=depth, above=above)]
        start += len(scores)
    return sorted(found, key=lambda hit: (-hit.score, hit.position))[:depth]
