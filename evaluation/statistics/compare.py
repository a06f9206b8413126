"""From a matrix of per-query scores to one comparison per pair of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.statistics.caveats import caveats, skewed
from evaluation.statistics.detectable import detectable
from evaluation.statistics.evidence import Found, Group, Settings, Span, two_sided, weigh
from evaluation.statistics.samples import Repositories, by_repository
from evaluation.statistics.scores import checked, checked_settings, difference_span, score_span
from evaluation.statistics.types import MARGIN, SIGNIFICANT, Comparison, TestName, Weight

FLIPS = 100_000
_EQUAL = 1e-12


class _Family(NamedTuple):
    """What all comparisons of a family share."""

    pairs: Sequence[tuple[str, str]]
    size: int
    differences: np.ndarray
    repositories: Repositories
    without_one: tuple[np.ndarray, np.ndarray]
    span: Span
    settings: Settings
    margin: float
    higher_is_better: bool | None


def compare_pairs(
    scores: np.ndarray,
    clusters: Sequence[str],
    *,
    names: Sequence[str],
    family: str = "all",
    weight: Weight = "repository",
    margin: float = MARGIN,
    higher_is_better: bool | None = True,
    value_range: tuple[float, float] | None = None,
    test: TestName = "t",
    flips: int = FLIPS,
    seed: int = 0,
    corrections: int | None = None,
) -> list[Comparison]:
    """Compare all pairs of rows of [names × queries], or each row with the one named by ``family``.

    scores: one row per alternative; NaN is a score that is undefined for its query. A pair is compared on the queries
        where both have one, and a caveat counts the others.
    clusters: the repository of each query.
    weight: whether each repository counts once, or each query.
    margin: differences within ± this are practically the same, in the measure's own unit.
    higher_is_better: None if more is neither better nor worse: what is shown to differ is then "different".
    value_range: the least and the largest possible score. Without it, scores between 0 and 1 are taken as shares.
    test: "t" is the default procedure: t over repositories from six on, else bounds over queries, which assume neither
        symmetry nor a normal mean. "sign-flip" flips the signs of the same units; it assumes symmetric differences.
    corrections: the number of comparisons covered by one statement, if larger than this family.
    """
    found = checked(scores, clusters, names)
    settings = checked_settings(weight, test, flips, seed, corrections=1 if corrections is None else corrections)
    if not margin >= 0:
        raise UsageError(f"the margin must be at least 0, not {margin}")
    pairs = _pairs(names, family)
    if not pairs:
        return []
    differences = np.array([found[i] - found[j] for i, j in pairs])
    span = difference_span(score_span(found, value_range))
    repositories = by_repository(differences, clusters)
    shared = _Family(
        pairs=[(names[i], names[j]) for i, j in pairs],
        size=max(len(pairs), corrections or 0),
        differences=differences,
        repositories=repositories,
        without_one=_without_one(repositories, weight),
        span=span,
        settings=settings,
        margin=margin,
        higher_is_better=higher_is_better,
    )
    rows: dict[int, Comparison] = {}
    for group in weigh(differences, clusters, span=span, settings=shared.settings):
        rows |= _compared(group, shared)
    return [rows[k] for k in range(len(pairs))]


def _pairs(names: Sequence[str], family: str) -> list[tuple[int, int]]:
    if family == "all":
        return list(combinations(range(len(names)), 2))
    if family not in names:
        raise UsageError(f"the baseline {family!r} is not among those compared.{nearest(family, list(names))}")
    base = list(names).index(family)
    return [(k, base) for k in range(len(names)) if k != base]


def _without_one(repositories: Repositories, weight: Weight) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest estimate when one repository is left out."""
    weights = repositories.weights(weight)
    estimates = (weights * repositories.means).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (estimates - weights * repositories.means) / (1 - weights)
    usable = (weights > 0) & (weights < 1)
    low = np.where(usable, left, np.inf).min(axis=1)
    high = np.where(usable, left, -np.inf).max(axis=1)
    return np.where(usable.any(axis=1), low, np.nan), np.where(usable.any(axis=1), high, np.nan)


def _compared(group: Group, family: _Family) -> dict[int, Comparison]:
    alone = two_sided(group.evidence, family.span)
    corrected = alone if family.size == 1 else two_sided(group.evidence, family.span, family=family.size)
    level = SIGNIFICANT / 2 / family.size
    smallest = detectable(group.evidence, group.samples.counts, level=level, span=family.span)
    return {
        int(row): _comparison(group, place, found=(alone, corrected), smallest=float(smallest[place]), family=family)
        for place, row in enumerate(group.rows)
    }


def _comparison(
    group: Group, place: int, *, found: tuple[Found, Found], smallest: float, family: _Family
) -> Comparison:
    row = int(group.rows[place])
    alone, corrected = found
    values = family.differences[row][~np.isnan(family.differences[row])]
    count = int(group.samples.counts[place])
    if not count:
        alone = corrected = Found(*(np.full(len(group.rows), value) for value in (1.0, np.nan, np.nan)))
    difference, error = float(group.evidence.estimates[place]), float(group.evidence.errors[place])
    return Comparison(
        a=family.pairs[row][0],
        b=family.pairs[row][1],
        difference=difference,
        low=_finite(corrected.low[place]),
        high=_finite(corrected.high[place]),
        p=float(corrected.p[place]),
        low_alone=_finite(alone.low[place]),
        high_alone=_finite(alone.high[place]),
        p_alone=float(alone.p[place]),
        margin=family.margin,
        weight=family.settings.weight,
        unit=group.unit,
        n_units=count,
        n_clusters=int(family.repositories.counts[row]),
        n_queries=len(values),
        undefined=family.differences.shape[1] - len(values),
        wins=int((values > _EQUAL).sum()),
        ties=int((np.abs(values) <= _EQUAL).sum()),
        losses=int((values < -_EQUAL).sum()),
        effect=float(difference / (error * np.sqrt(count))) if error > _EQUAL else None,
        without_one_low=float(family.without_one[0][row]),
        without_one_high=float(family.without_one[1][row]),
        detectable=_finite(smallest),
        caveats=_caveats(group, place, row, family, count),
        test=family.settings.test,
        method=group.method,
        family=family.size,
        flips=group.flips,
        exact=group.exact,
        seed=family.settings.seed,
        higher_is_better=family.higher_is_better,
    )


def _finite(bound: float) -> float:
    """Return the bound, NaN where the data cannot give one."""
    return float(bound) if np.isfinite(bound) else float("nan")


def _caveats(group: Group, place: int, row: int, family: _Family, count: int) -> tuple[str, ...]:
    if not count:
        return ("no query has a value on both sides, so nothing is compared",)
    queries = family.differences.shape[1]
    found = caveats(group, place, repositories=family.repositories, row=row, queries=queries, span=family.span)
    if not np.nan_to_num(family.differences[row]).any():
        first, second = family.pairs[row]
        found.append(f"{first} and {second} have the same score on every query")
    return (*found, *skewed(group, place))
