"""Folds queries into the units that are flipped or resampled together: repositories, or the queries themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.types import MIN_REPOSITORIES, Unit


@dataclass(frozen=True, slots=True)
class Units:
    """Which unit each query belongs to."""

    unit: Unit
    index: np.ndarray
    """query → unit"""
    count: int
    n_clusters: int

    def fold(self, values: np.ndarray) -> np.ndarray:
        """[columns × queries] summed inside each unit: [columns × units]."""
        return np.array([np.bincount(self.index, weights=row, minlength=self.count) for row in values])


def choose_units(clusters: Sequence[str]) -> Units:
    """Repositories where there are enough of them to flip, else queries."""
    labels, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    if len(labels) >= MIN_REPOSITORIES:
        return Units("repository", index.reshape(-1), len(labels), len(labels))
    return Units("query", np.arange(len(clusters)), len(clusters), len(labels))


def cluster_caveat(clusters: Sequence[str]) -> str:
    """Say what the number and the sizes of the repositories forbid to conclude; empty when nothing."""
    labels, sizes = np.unique(np.asarray(clusters, dtype=str), return_counts=True)
    count = len(labels)
    if count < MIN_REPOSITORIES:
        these = "this repository" if count == 1 else f"these {count} repositories"
        return f"holds for {these} only: below {MIN_REPOSITORIES} repositories, single queries are the unit"
    parts = []
    if count <= 7:
        parts.append(f"{count} repositories cannot give a p below {2.0 ** (1 - count):.3f}")
    if sizes.max() > sizes.sum() / 2:
        share = 100 * sizes.max() / sizes.sum()
        parts.append(f"{labels[sizes.argmax()]} holds {share:.0f} % of the queries and decides most of this")
    return "; ".join(parts)
