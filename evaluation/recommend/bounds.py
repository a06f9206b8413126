"""Means of candidates, their uncertainty, and how much better one candidate may be than another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.statistics import Weight
from evaluation.statistics.control import family_level, shared_correlation
from evaluation.statistics.evidence import Group, Settings, weigh
from evaluation.statistics.samples import by_repository, fold
from evaluation.statistics.scores import difference_span, score_span


class Scored(NamedTuple):
    """The scores of some candidates on the queries of one round."""

    names: Sequence[str]
    values: np.ndarray
    """[names × queries]; NaN is undefined."""
    clusters: Sequence[str]
    """The repository of each query."""

    def on(self, queries: np.ndarray) -> Scored:
        """Return the scores on some of the queries, given as a mask."""
        return Scored(self.names, self.values[:, queries], np.asarray(self.clusters)[queries].tolist())

    def with_rows(self, other: Scored) -> Scored:
        """Return these candidates followed by others, on the same queries."""
        return self._replace(names=[*self.names, *other.names], values=np.concatenate([self.values, other.values]))


class Scale(NamedTuple):
    """The scale of the scores: their range, which way is better, and what counts once in a mean."""

    value_range: tuple[float, float] | None = (0.0, 1.0)
    higher_is_better: bool = True
    weight: Weight = "repository"

    @property
    def sign(self) -> float:
        """The factor that makes higher scores better."""
        return 1.0 if self.higher_is_better else -1.0


Pair = tuple[str, str]


def means(scored: Scored, scale: Scale) -> dict[str, float]:
    """Return the mean of each candidate, each repository (or query) counting once; NaN if it has no value."""
    if not scored.names:
        return {}
    repositories = by_repository(scored.values, scored.clusters)
    found = (repositories.weights(scale.weight) * repositories.means).sum(axis=1)
    return dict(zip(scored.names, np.where(repositories.counts > 0, found, np.nan).tolist(), strict=True))


def variances(scored: Scored, scale: Scale) -> np.ndarray:
    """Return the variance of each candidate's mean around the others': what they share is no error of a comparison.

    Each is shrunk halfway to the mean of all, since a few repositories or queries say little about one alone. NaN
    without two values.
    """
    count = len(scored.names)
    shared = np.nan_to_num(scored.values).sum(axis=0) / np.maximum((~np.isnan(scored.values)).sum(axis=0), 1)
    found = np.full(count, np.nan)
    if not count:
        return found
    for rows, samples in fold(scored.values - shared, scored.clusters, weight=scale.weight).values():
        parts = samples.weights * (samples.values - np.nan_to_num(samples.estimates)[:, None])
        known = samples.counts > 1
        spread = np.square(parts).sum(axis=1) * samples.counts / np.maximum(samples.counts - 1, 1)
        found[rows[known]] = spread[known] * count / max(count - 1, 1)
    return np.asarray((found + np.nanmean(found)) / 2 if (~np.isnan(found)).any() else found)


def largest_difference(scored: Scored, scale: Scale) -> float:
    """Return the largest possible difference of two means."""
    return difference_span(score_span(scored.values, scale.value_range)).most


def upper_bounds(
    scored: Scored, pairs: Sequence[Pair], *, level: float, rivals: int, scale: Scale
) -> dict[Pair, float]:
    """Return for each pair (a, b) how much better a may be than b.

    For any one a, its bounds over ``rivals`` others hold together with an error probability of ``level``, whoever they
    are: the correction is Dunnett's, with the correlation estimated from the data. An advantage is a difference of
    means, positive if a is better; without data, its bound is the largest difference that the measure allows.
    """
    if not pairs:
        return {}
    place = {name: row for row, name in enumerate(scored.names)}
    first, second = (np.array([place[pair[side]] for pair in pairs]) for side in (0, 1))
    differences = scale.sign * (scored.values[first] - scored.values[second])
    span = difference_span(score_span(scored.values, scale.value_range))
    found = np.full(len(pairs), span.most)
    for group in weigh(differences, scored.clusters, span=span, settings=Settings(scale.weight, "t", 0, 0)):
        bound = group.evidence.upper(_levels(group, first[group.rows], level, rivals))
        bound = np.where(group.samples.counts > 0, bound, span.most)
        found[group.rows] = np.minimum(np.nan_to_num(bound, nan=span.most, posinf=span.most), span.most)
    return dict(zip(pairs, found.tolist(), strict=True))


def _levels(group: Group, controls: np.ndarray, level: float, rivals: int) -> np.ndarray:
    """Return the level of each comparison: those with one control form a family with that correlation."""
    samples = group.samples
    parts = samples.weights * (samples.values - np.nan_to_num(samples.estimates)[:, None])
    everyone, index = np.unique(controls, return_inverse=True)
    alike = np.array([shared_correlation(parts[index == place]) for place in range(len(everyone))])
    return family_level(level, np.full(len(everyone), float(max(rivals, 1))), alike)[index]
