"""95 % intervals of a mean over queries that are clustered in repositories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkers.errors import UsageError
from evaluation.statistics.caveats import caveats
from evaluation.statistics.evidence import Settings, two_sided, weigh
from evaluation.statistics.samples import by_repository
from evaluation.statistics.scores import score_span
from evaluation.statistics.types import Interval, Weight


def weighted_mean(values: np.ndarray, clusters: Sequence[str], *, weight: Weight = "repository") -> float:
    """Return the mean in which each repository, or each query, counts once; NaN if no query has a value."""
    repositories = by_repository(np.asarray(values, dtype=np.float64)[None, :], clusters)
    if not repositories.counts[0]:
        return float("nan")
    return _within((repositories.weights(weight) * repositories.means).sum(), np.asarray(values))


def _within(mean: float, values: np.ndarray) -> float:
    """Clip the mean to the range of its values, which rounding can exceed."""
    return float(np.clip(mean, np.nanmin(values), np.nanmax(values)))


def mean_interval(
    values: np.ndarray | Sequence[float],
    clusters: Sequence[str],
    *,
    weight: Weight = "repository",
    value_range: tuple[float, float] | None = None,
) -> Interval:
    """Return the mean over the queries with a value, with the interval by which means are compared."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) != len(clusters):
        raise UsageError(f"{array.shape} values and {len(clusters)} cluster labels do not pair up")
    scored = int((~np.isnan(array)).sum())
    undefined = len(array) - scored
    if scored < 2:
        mean = float(array[~np.isnan(array)].mean()) if scored else float("nan")
        noted = [f"{undefined} of {len(array)} queries have no value and are left out"] if undefined else []
        noted.append("one query gives no interval" if scored else "no query has a value")
        return Interval(mean, float("nan"), float("nan"), "none", scored, undefined, "; ".join(noted), weight, scored)
    span = score_span(array, value_range)
    (group,) = weigh(array[None, :], clusters, span=span, settings=Settings(weight, "t", 0, 0), paired=False)
    found = two_sided(group.evidence, span)
    repositories = by_repository(array[None, :], clusters)
    noted = caveats(group, 0, repositories=repositories, row=0, queries=len(array), span=span)
    mean = _within(group.evidence.estimates[0], array)
    return Interval(
        mean=mean,
        low=min(float(found.low[0]), mean),
        high=max(float(found.high[0]), mean),
        method=group.method,
        n=scored,
        undefined=undefined,
        caveat="; ".join(noted),
        weight=weight,
        n_units=int(group.samples.counts[0]),
    )
