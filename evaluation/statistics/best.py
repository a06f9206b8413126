"""Which alternatives may be the best: comparisons with the best (Hsu 1984), for any number of alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from evaluation.statistics.caveats import caveats
from evaluation.statistics.compare import FLIPS
from evaluation.statistics.control import family_level, family_p, in_question, shared_correlation
from evaluation.statistics.detectable import detectable, middle
from evaluation.statistics.evidence import Group, Settings, Span, agreeing, weigh, within
from evaluation.statistics.samples import by_repository, weighted_means
from evaluation.statistics.scores import checked, checked_settings, difference_span, score_span
from evaluation.statistics.types import LEAST, SIGNIFICANT, BestSet, Standing, TestName, Unit, Weight


class _Families(NamedTuple):
    """Per row, the comparisons in which it is the control."""

    sizes: np.ndarray
    """How many of the others could be the one that beats it."""
    correlations: np.ndarray


class _Bounds(NamedTuple):
    """[names × names]: bounds of row minus column, higher being better."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    one_sided_high: np.ndarray
    """At the level of the decision; the others are two-sided."""
    p_worse: np.ndarray
    """One-sided, that the row is worse than the column."""
    families: _Families


class _Basis(NamedTuple):
    unit: Unit
    method: str
    n_units: int
    detectable: float
    caveats: tuple[str, ...]


def best_set(
    scores: np.ndarray,
    clusters: Sequence[str],
    *,
    names: Sequence[str],
    weight: Weight = "repository",
    higher_is_better: bool = True,
    value_range: tuple[float, float] | None = None,
    test: TestName = "t",
    flips: int = FLIPS,
    seed: int = 0,
    corrections: int = 1,
) -> BestSet:
    """Return which rows of [names × queries] may be the best, with intervals to the best of the others.

    A row leaves the set when some other is shown to be better, corrected for all others: the truly best one is excluded
    in at most 5 % of cases, however many rows there are. The comparisons of a row share that row as their control, so
    their correction is Dunnett's, with the correlation estimated from the data, for those others that are not far
    behind it.
    ``corrections`` is the number of sets covered by one statement. The other options are those of `compare_pairs`.
    """
    found = checked(scores, clusters, names)
    settings = checked_settings(weight, test, flips, seed, corrections=corrections)
    if not len(found):
        raise UsageError("there is nothing to compare")
    sign = 1.0 if higher_is_better else -1.0
    span = difference_span(score_span(found, value_range))
    present = [int(row) for row in np.flatnonzero(~np.isnan(found).all(axis=1))]
    means = weighted_means(found, clusters, weight=weight)
    others = max(len(present) - 1, 1)
    bounds, basis = _bounds(
        sign * found[present],
        clusters,
        span=span,
        settings=settings,
        corrections=corrections,
    )
    places = {row: place for place, row in enumerate(present)}
    standings = _standings([names[k] for k in present], means[present], bounds, corrections=corrections, sign=sign)
    everyone = tuple(standings[places[k]] if k in places else _without_value(name) for k, name in enumerate(names))
    ranked = sorted((k for k in present if everyone[k].may_be_best), key=lambda k: -sign * means[k])
    absent = tuple(
        f"{name} has no value on any query and is left out" for k, name in enumerate(names) if k not in places
    )
    return BestSet(
        may_be_best=tuple(names[k] for k in ranked),
        standings=everyone,
        weight=weight,
        unit=basis.unit,
        n_units=basis.n_units,
        n_clusters=len(set(clusters)),
        n_queries=len(clusters),
        detectable=basis.detectable,
        caveats=(*absent, *basis.caveats),
        method=basis.method,
        family=others * corrections,
        higher_is_better=higher_is_better,
    )


def _bounds(
    scores: np.ndarray, clusters: Sequence[str], *, span: Span, settings: Settings, corrections: int
) -> tuple[_Bounds, _Basis]:
    """Evaluate every pair once: the bounds of j minus i mirror those of i minus j."""
    count = len(scores)
    first, second = np.triu_indices(count, 1)
    estimate, low, high, one_sided_high = (np.full((count, count), value) for value in (0.0, -np.inf, np.inf, np.inf))
    p_worse = np.ones((count, count))
    if count < 2:
        bounds = _Bounds(estimate, low, high, one_sided_high, p_worse, _Families(np.ones(count), np.zeros(count)))
        return bounds, _Basis("query", "none", 0, float("nan"), ("there is nothing to compare with",))
    differences = scores[first] - scores[second]
    groups = weigh(differences, clusters, span=span, settings=settings)
    repositories = by_repository(differences, clusters)
    families = _families(groups, first, second, count)
    one = family_level(SIGNIFICANT / corrections, *families)
    # An interval covers all others, far behind or not.
    two = family_level(SIGNIFICANT / 2 / corrections, np.full(count, count - 1.0), families.correlations)
    smallest = np.full(len(first), np.nan)
    noted: dict[str, None] = {}
    for group in groups:
        evidence, i, j = group.evidence, first[group.rows], second[group.rows]
        defined = group.samples.counts > 0
        estimate[i, j], estimate[j, i] = evidence.estimates, -evidence.estimates
        # Either of the two may be the best one, with which all others are compared.
        level = np.minimum(two[i], two[j])
        ends = within(span, evidence.lower(level), evidence.upper(level))
        low[i, j], high[i, j] = np.where(defined, ends.low, -np.inf), np.where(defined, ends.high, np.inf)
        low[j, i], high[j, i] = -high[i, j], -low[i, j]
        one_sided_high[i, j] = np.where(defined, evidence.upper(one[i]), np.inf)
        one_sided_high[j, i] = np.where(defined, -evidence.lower(one[j]), np.inf)
        p_worse[i, j] = np.where(defined, evidence.p_below(), 1.0)
        p_worse[j, i] = np.where(defined, evidence.p_above(), 1.0)
        level = np.minimum(one[i], one[j])
        smallest[group.rows] = detectable(evidence, group.samples.counts, level=level, span=span)
        for place, row in enumerate(group.rows):
            found = caveats(group, place, repositories=repositories, row=int(row), queries=len(clusters), span=span)
            noted |= dict.fromkeys(found)
    main = max(groups, key=lambda group: len(group.rows))
    basis = _Basis(main.unit, main.method, int(main.samples.counts.max()), middle(smallest), tuple(noted))
    return _Bounds(estimate, low, high, one_sided_high, p_worse, families), basis


def _families(groups: Sequence[Group], first: np.ndarray, second: np.ndarray, count: int) -> _Families:
    """Return each row's family; where its comparisons have different units, the largest without any correlation."""
    if len(groups) > 1:
        return _Families(np.full(count, count - 1.0), np.zeros(count))
    (group,) = groups
    estimates, errors, samples = group.evidence.estimates, group.evidence.errors, group.samples
    # A pair that never differs, or has no value, still counts.
    ratios = np.divide(estimates, errors, out=np.zeros(len(errors)), where=errors > 0)
    parts = samples.weights * (samples.values - np.nan_to_num(estimates)[:, None])
    found = []
    for row in range(count):
        as_first, as_second = first == row, second == row
        over = np.concatenate([-ratios[as_first], ratios[as_second]])
        freedom = np.concatenate([samples.counts[as_first], samples.counts[as_second]]) - 1.0
        together = np.concatenate([-parts[as_first], parts[as_second]])
        found.append((in_question(over, freedom), shared_correlation(together)))
    return _Families(*(np.array(each) for each in zip(*found, strict=True)))


def _standings(
    names: Sequence[str], means: np.ndarray, bounds: _Bounds, *, corrections: int, sign: float
) -> list[Standing]:
    count = len(names)
    if count < 2:
        return [replace(_without_value(name), mean=float(means[0]), may_be_best=True) for name in names]
    apart = ~np.eye(count, dtype=bool)
    excluded = np.where(apart, bounds.one_sided_high, np.inf).min(axis=1) < 0
    smallest = np.where(apart, bounds.p_worse, 1.0).min(axis=1)
    p = agreeing(np.minimum(1.0, corrections * family_p(smallest, *bounds.families)), excluded)
    highs = np.where(apart, bounds.high, np.inf).min(axis=1)
    highs = np.where(excluded, np.minimum(highs, -LEAST), np.maximum(highs, 0.0))
    rivals = apart & ~excluded[None, :]
    lows = np.where(rivals.any(axis=1), np.minimum(np.where(rivals, bounds.low, np.inf).min(axis=1), 0.0), 0.0)
    lows = np.minimum(lows, highs)
    best_other = np.where(apart, np.nan_to_num(bounds.estimate, nan=np.inf), np.inf).argmin(axis=1)
    return [
        Standing(
            name=names[k],
            mean=float(means[k]),
            difference=float(sign * bounds.estimate[k, best_other[k]]),
            low=float(lows[k] if sign > 0 else -highs[k]),
            high=float(highs[k] if sign > 0 else -lows[k]),
            p=float(p[k]),
            may_be_best=not excluded[k],
            rival=names[int(best_other[k])],
        )
        for k in range(count)
    ]


def _without_value(name: str) -> Standing:
    nothing = float("nan")
    return Standing(name, nothing, nothing, nothing, nothing, 1.0, may_be_best=False, rival=None)
