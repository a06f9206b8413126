"""95 % intervals of a mean over queries that cluster in repositories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evaluation.statistics.types import MIN_REPOSITORIES, Interval
from evaluation.statistics.units import cluster_caveat

BOOTSTRAP_FROM = 30
"""Repositories from which the bootstrap holds its level; below, the t distribution over repositories does."""
RESAMPLES = 10_000
CONFIDENCE = 0.95


def mean_interval(values: np.ndarray | Sequence[float], clusters: Sequence[str], *, seed: int = 0) -> Interval:
    """Return the mean over the queries that have a value, with an interval that respects their repositories."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) != len(clusters):
        raise ValueError(f"{array.shape} values and {len(clusters)} cluster labels do not pair up")
    kept = ~np.isnan(array)
    undefined = int(len(array) - kept.sum())
    value, names = array[kept], np.asarray(clusters, dtype=str)[kept]
    note = [f"{undefined} of {len(array)} queries have no value and are left out"] if undefined else []
    if len(value) < 2:
        mean = float(value.mean()) if len(value) else float("nan")
        note.append(f"{len(value)} queries give no interval")
        return Interval(mean, float("nan"), float("nan"), "none", len(value), undefined, "; ".join(note))
    labels, index = np.unique(names, return_inverse=True)
    sizes = np.bincount(index.reshape(-1)).astype(np.float64)
    sums = np.bincount(index.reshape(-1), weights=value)
    if caveat := cluster_caveat(names.tolist()):
        note.append(caveat)
    if len(labels) >= BOOTSTRAP_FROM:
        method, (low, high) = "cluster-bootstrap", _bootstrap(sums, sizes, seed)
    elif len(labels) >= MIN_REPOSITORIES:
        method, (low, high) = "cluster-t", _jackknife_t(sums, sizes)
    else:
        method, (low, high) = "query-t", _jackknife_t(value, np.ones(len(value)))
    return Interval(float(value.mean()), low, high, method, len(value), undefined, "; ".join(note))


def _jackknife_t(sums: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Student's t over units, with the leave-one-unit-out variance: unequal units do not make it too narrow."""
    from scipy import special  # scipy.stats takes a second to import

    count, total = len(sums), sizes.sum()
    mean = sums.sum() / total
    left_out = (sums - mean * sizes) / (total - sizes)
    error = np.sqrt((count - 1) / count * np.square(left_out).sum())
    half = special.stdtrit(count - 1, 0.5 + CONFIDENCE / 2) * error
    return float(mean - half), float(mean + half)


def _bootstrap(sums: np.ndarray, sizes: np.ndarray, seed: int) -> tuple[float, float]:
    """Percentiles over resampled repositories, widened to match t (Hesterberg 2015): plain ones cover too little."""
    from scipy import special  # scipy.stats takes a second to import

    count = len(sums)
    weights = _resamples(count, seed)
    means = (weights @ sums) / (weights @ sizes)
    tail = special.ndtr(np.sqrt(count / (count - 1)) * special.stdtrit(count - 1, 0.5 - CONFIDENCE / 2))
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@lru_cache(maxsize=2)
def _resamples(count: int, seed: int) -> np.ndarray:
    """How often each of ``count`` repositories is drawn, per resample; shared by all pairs of a comparison."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(np.float64)
    drawn.setflags(write=False)
    return drawn
