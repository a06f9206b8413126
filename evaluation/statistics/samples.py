"""Paired differences folded into independent units: repositories, or queries where there are few repositories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.types import MIN_REPOSITORIES, Unit, Weight

Level = float | np.ndarray
"""One level for all comparisons, or one for each."""


@dataclass(frozen=True, slots=True)
class Samples:
    """One weighted sample per comparison; units without a value have weight 0 and value 0.

    A row of ``weights`` sums to 1, or to 0 if the comparison has no value at all.
    """

    values: np.ndarray
    """[comparisons × units]"""
    weights: np.ndarray
    unit: Unit
    weight: Weight

    @property
    def estimates(self) -> np.ndarray:
        """The weighted mean of each comparison; NaN where it has no value."""
        sums = np.einsum("ij,ij->i", self.values, self.weights)
        return np.where(self.counts > 0, sums, np.nan)

    @property
    def counts(self) -> np.ndarray:
        """Number of units of each comparison."""
        return np.asarray((self.weights > 0).sum(axis=1))


@dataclass(frozen=True, slots=True)
class Repositories:
    """Per comparison and repository: the number of queries with a value, and their mean (0 if there are none)."""

    labels: Sequence[str]
    sizes: np.ndarray
    """[comparisons × repositories]"""
    means: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of repositories of each comparison."""
        return np.asarray((self.sizes > 0).sum(axis=1))

    def weights(self, weight: Weight) -> np.ndarray:
        """Return the contribution of each repository to the estimate: rows sum to 1, or to 0 without any value."""
        parts = (self.sizes > 0).astype(np.float64) if weight == "repository" else self.sizes
        return np.asarray(parts / np.maximum(parts.sum(axis=1, keepdims=True), 1))


def by_repository(values: np.ndarray, clusters: Sequence[str]) -> Repositories:
    """Average [comparisons × queries] within each repository, ignoring NaN."""
    labels, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    index = index.reshape(-1)
    defined = ~np.isnan(values)
    count = len(labels)
    sizes = np.array([np.bincount(index, weights=row, minlength=count) for row in defined])
    sums = np.array([np.bincount(index, weights=row, minlength=count) for row in np.where(defined, values, 0.0)])
    return Repositories([str(label) for label in labels], sizes, sums / np.maximum(sizes, 1))


def weighted_means(values: np.ndarray, clusters: Sequence[str], *, weight: Weight) -> np.ndarray:
    """Return the mean of each row of [rows × queries]; NaN where it has no value."""
    repositories = by_repository(values, clusters)
    means = (repositories.weights(weight) * repositories.means).sum(axis=1)
    return np.where(repositories.counts > 0, means, np.nan)


def fold(values: np.ndarray, clusters: Sequence[str], *, weight: Weight) -> dict[Unit, tuple[np.ndarray, Samples]]:
    """Group the comparisons by the unit they allow: row numbers and their samples.

    A comparison with at least six repositories uses repositories as units, any other uses its queries: missing values
    may leave one comparison with fewer repositories than others.
    """
    repositories = by_repository(values, clusters)
    enough = repositories.counts >= MIN_REPOSITORIES
    found: dict[Unit, tuple[np.ndarray, Samples]] = {}
    if enough.any():
        rows = np.flatnonzero(enough)
        shares = repositories.weights(weight)[rows]
        found["repository"] = (rows, Samples(repositories.means[rows], shares, "repository", weight))
    if not enough.all():
        rows = np.flatnonzero(~enough)
        found["query"] = (rows, queries_of(values[rows], clusters, weight=weight))
    return found


def queries_of(values: np.ndarray, clusters: Sequence[str], *, weight: Weight) -> Samples:
    """Use every query as a unit; the weights still make each repository count once, or each query."""
    repositories = by_repository(values, clusters)
    _, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    defined = ~np.isnan(values)
    per_query = repositories.weights(weight) / np.maximum(repositories.sizes, 1)
    weights = np.where(defined, per_query[:, index.reshape(-1)], 0.0)
    return Samples(np.where(defined, values, 0.0), weights, "query", weight)
