"""The statistics written down a second time, one comparison and one number after another, with root finding by scipy.

Nothing of evaluation.statistics is used but `family_p` and `family_level`, which have oracles of their own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats

from evaluation.statistics.control import family_level, family_p

Pairs = list[tuple[float, float]]
"""(weight, value) of each unit."""


class Sides(NamedTuple):
    """What a procedure says of one mean."""

    estimate: float
    error: float
    p_above: float
    p_below: float
    lower: Callable[[float], float]
    upper: Callable[[float], float]


def units_of(values: Sequence[float], clusters: Sequence[str], *, weight: str) -> tuple[Pairs, Pairs]:
    """Return the repositories and the queries as weighted units."""
    groups: dict[str, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        if not math.isnan(value):
            groups[cluster].append(value)
    everyone = sum(map(len, groups.values()))
    shares = {name: 1 / len(groups) if weight == "repository" else len(of) / everyone for name, of in groups.items()}
    repositories = [(shares[name], sum(of) / len(of)) for name, of in groups.items()]
    queries = [(shares[name] / len(of), value) for name, of in groups.items() for value in of]
    return repositories, queries


def _mean(units: Pairs) -> float:
    return sum(weight * value for weight, value in units)


def _error_at(units: Pairs, true: float) -> float:
    """Return the standard error of Σ weight·(value - true), by the spread of its terms."""
    terms = [weight * (value - true) for weight, value in units]
    middle = sum(terms) / len(terms)
    count = len(terms)
    return math.sqrt(sum((term - middle) ** 2 for term in terms) * count / max(count - 1, 1))


def _plain_error(units: Pairs) -> float:
    """Return the same with terms about 0, which their sum is at the estimate."""
    mean, count = _mean(units), len(units)
    return math.sqrt(sum((weight * (value - mean)) ** 2 for weight, value in units) * count / max(count - 1, 1))


def student(units: Pairs) -> Sides:
    """T over units; where they are skewed, Hall's correction may widen it by half."""
    count, mean = len(units), _mean(units)
    parts = [weight * (value - mean) for weight, value in units]
    spread = sum(part**2 for part in parts) / (count - 1)
    skew = sum(part**3 for part in parts) / spread**1.5 * math.sqrt(count) / (count - 1) / (count - 2) if spread else 0
    skew = skew if abs(skew) > 0.2 else 0.0
    t = stats.t(count - 1)

    def bent(ratio: float, skew: float) -> float:
        return ratio + skew * ratio**2 / 3 + skew**2 * ratio**3 / 27 + skew / 6

    def tail(sign: float) -> float:
        weights = [weight for weight, _ in units]
        uneven = (sum(weight**2 for weight in weights) - 1 / count) * count / (count - 1)
        farthest = math.inf if uneven < 1e-15 else 1 / math.sqrt(uneven)
        ratio = sign * max(-farthest, min(mean / _error_at(units, 0.0), farthest))
        plain = t.sf(ratio)
        return min(max(plain, t.sf(bent(ratio, sign * skew))), max(plain, t.sf(ratio / 1.5)))

    def distance(level: float, sign: float) -> float:
        plain = t.isf(level)
        if skew:
            # The polynomial rises everywhere, so it has one root.
            corrected = optimize.brentq(lambda ratio: bent(ratio, sign * skew) - plain, -1e3, 1e3, xtol=1e-13)
            reach = min(max(plain, corrected), 1.5 * plain)
        else:
            reach = plain

        def beyond(way: float) -> float:
            return way - reach * _error_at(units, mean - sign * way)

        far = 1e6
        return optimize.brentq(beyond, 0.0, far, xtol=1e-14) if beyond(far) > 0 else math.inf

    return Sides(
        mean,
        _plain_error(units),
        tail(1.0),
        tail(-1.0),
        lambda level: mean - distance(level, 1.0),
        lambda level: mean + distance(level, -1.0),
    )


def _chance_below(parts: Sequence[float]) -> float:
    """Lugannani and Rice's chance that Σ part·E ≤ 0 for exponential E."""
    if max(parts) <= 0:
        return 1.0
    if min(parts) >= 0:
        return 0.0
    left, right = (1 - 1e-12) / min(parts), (1 - 1e-12) / max(parts)
    point = optimize.brentq(lambda s: sum(a / (1 - s * a) for a in parts), left, right, xtol=1e-15, rtol=1e-14)
    logs = sum(math.log(1 - point * a) for a in parts)
    signed = math.copysign(math.sqrt(max(2 * logs, 0.0)), point)
    if abs(signed) < 1e-4:
        return float(stats.norm.cdf(sum(a**3 for a in parts) / 3 / sum(a**2 for a in parts) ** 1.5))
    slope = point * math.sqrt(sum((a / (1 - point * a)) ** 2 for a in parts))
    return float(stats.norm.cdf(signed + math.log(slope / signed) / signed))


def bounded(units: Pairs, *, least: float, most: float, worst: str) -> Sides:
    """Gaffke's bounds."""
    share = max(w for w, _ in units) if worst == "largest" else sum(w**2 for w, _ in units)

    def chance(units: Pairs, end: float, at: float) -> float:
        return _chance_below([*(w * (v - at) for w, v in units), share * (end - at)])

    def bound(units: Pairs, end: float, level: float) -> float:
        high = max([end, *(v for _, v in units)])
        if high <= end:
            return end
        return float(optimize.brentq(lambda at: chance(units, end, at) - level, end, high, xtol=1e-14))

    turned = [(w, -v) for w, v in units]
    return Sides(
        _mean(units),
        _plain_error(units),
        chance(units, least, 0.0),
        chance(turned, -most, 0.0),
        lambda level: bound(units, least, level),
        lambda level: -bound(turned, -most, level),
    )


def flipped(units: Pairs) -> Sides:
    """Every subset of the units."""
    subsets = chain.from_iterable(combinations(units, size) for size in range(1, len(units) + 1))
    means = sorted(sum(w * v for w, v in subset) / sum(w for w, _ in subset) for subset in subsets)
    total = len(means) + 1

    def rank(level: float) -> int:
        return math.floor(level * total * (1 + 1e-9))

    return Sides(
        _mean(units),
        _plain_error(units),
        (1 + sum(mean <= 1e-12 for mean in means)) / total,
        (1 + sum(mean >= -1e-12 for mean in means)) / total,
        lambda level: [-math.inf, *means][rank(level)],
        lambda level: [math.inf, *reversed(means)][rank(level)],
    )


def guarded(main: Sides, guard: Sides) -> Sides:
    """Return the main procedure where bounds over queries, at 5 %, do not contradict it."""

    def p(one: float, other: float) -> float:
        return one if other <= 0.05 else max(one, other)

    return Sides(
        main.estimate,
        main.error,
        p(main.p_above, guard.p_above),
        p(main.p_below, guard.p_below),
        lambda level: min(main.lower(level), guard.lower(0.05)),
        lambda level: max(main.upper(level), guard.upper(0.05)),
    )


def sides(differences: Sequence[float], clusters: Sequence[str], *, weight: str, test: str, width: float) -> Sides:
    """Return what a row of differences asks for; ``width`` is the range of the scores."""
    repositories, queries = units_of(differences, clusters, weight=weight)
    units = repositories if len(repositories) >= 6 else queries
    if test == "sign-flip":
        return flipped(units)
    if units is queries:
        return bounded(queries, least=-width, most=width, worst="largest")
    if len(queries) < 2 * len(repositories):
        return student(repositories)
    return guarded(student(repositories), bounded(queries, least=-width, most=width, worst="typical"))


def mean_sides(values: Sequence[float], clusters: Sequence[str], *, weight: str, ends: tuple[float, float]) -> Sides:
    """Return what a mean of scores asks for, that lie between ``ends``."""
    repositories, queries = units_of(values, clusters, weight=weight)
    if len(repositories) < 6:
        return bounded(queries, least=ends[0], most=ends[1], worst="largest")
    if len(queries) < 2 * len(repositories):
        return student(repositories)
    return guarded(student(repositories), bounded(queries, least=ends[0], most=ends[1], worst="typical"))


class Row(NamedTuple):
    """One comparison, as `compare_pairs` returns it."""

    difference: float
    low: float
    high: float
    p: float
    detectable: float


def compared(found: Sides, *, family: int, width: float, units: int) -> Row:
    """Bonferroni's correction of p and interval, and what 80 % power needs."""
    level = 0.05 / 2 / family
    low, high = found.lower(level), found.upper(level)
    p = min(1.0, 2 * family * min(found.p_above, found.p_below))
    needed = _needed(found, level, width=width, units=units)
    return Row(found.estimate, max(low, -width), min(high, width), p, needed if math.isfinite(needed) else math.nan)


class Place(NamedTuple):
    """One alternative against the best of the others, as `best_set` returns it."""

    difference: float
    low: float
    high: float
    p: float
    may_be_best: bool


class Standings(NamedTuple):
    """All places, and the smallest distance that excludes, in the middle of the pairs."""

    places: list[Place]
    detectable: float


def standings(
    scores: np.ndarray, clusters: Sequence[str], *, weight: str, test: str, corrections: int = 1
) -> Standings:
    """Comparisons with the best: each alternative is the control of all others."""
    count = len(scores)
    pair = {
        (i, j): sides(list(scores[i] - scores[j]), clusters, weight=weight, test=test, width=1.0)
        for i in range(count)
        for j in range(count)
        if i != j
    }
    units, kinds = {}, set()
    for i, j in pair:
        repositories, queries = units_of(list(scores[j] - scores[i]), clusters, weight=weight)
        units[i, j] = repositories if len(repositories) >= 6 else queries
        kinds.add(units[i, j] is repositories)
    sizes, correlations = [], []
    for i in range(count):
        rivals = [j for j in range(count) if j != i]
        # Comparisons over different units have no correlation to speak of.
        sizes.append(_in_question([(units[i, j], pair[j, i]) for j in rivals]) if len(kinds) == 1 else count - 1.0)
        correlations.append(_correlation([units[i, j] for j in rivals]) if len(kinds) == 1 else 0.0)
    families = np.array(sizes), np.array(correlations)
    one = family_level(0.05 / corrections, *families)
    two = family_level(0.025 / corrections, np.full(count, count - 1.0), families[1])
    excluded = [min(pair[i, j].upper(one[i]) for j in range(count) if j != i) < 0 for i in range(count)]
    found = []
    for i in range(count):
        rivals = [j for j in range(count) if j != i]
        levels = {j: min(two[i], two[j]) for j in rivals}
        high = min(min(pair[i, j].upper(levels[j]), 1.0) for j in rivals)
        high = min(high, 0.0) if excluded[i] else max(high, 0.0)
        low = min([0.0, *(max(pair[i, j].lower(levels[j]), -1.0) for j in rivals if not excluded[j])])
        smallest = min(pair[i, j].p_below for j in rivals)
        p = corrections * family_p(np.array([smallest]), families[0][[i]], families[1][[i]])[0]
        found.append(
            Place(min(pair[i, j].estimate for j in rivals), min(low, high), high, min(1.0, p), not excluded[i])
        )
    needed = [
        _needed(pair[i, j], min(one[i], one[j]), width=1.0, units=len(units[i, j]))
        for i, j in combinations(range(count), 2)
    ]
    known = sorted(each for each in needed if not math.isnan(each))
    inner = [each for each in known[(len(known) - 1) // 2 : len(known) // 2 + 1] if math.isfinite(each)]
    return Standings(found, float(np.mean(inner)) if inner else math.nan)


def _needed(found: Sides, level: float, *, width: float, units: int) -> float:
    """Return the true difference that is shown four times in five at a one-sided level; infinite if none can be."""
    reach = max(found.estimate - found.lower(level), found.upper(level) - found.estimate)
    needed = reach + stats.t.ppf(0.8, max(units - 1, 1)) * found.error
    if found.error > 0:
        return needed if needed <= width else math.inf
    return math.nan


def _in_question(rivals: Sequence[tuple[Pairs, Sides]]) -> float:
    """How many rivals are not 1.5 standard errors behind, raised by the share that chance would put there."""
    total = 0.0
    for units, ahead in rivals:
        if not ahead.error or ahead.estimate / ahead.error > -1.5:
            total += 1 / (1 - stats.t.cdf(-1.5, max(len(units) - 1, 1)))
    return min(max(total, 1.0), len(rivals))


def _correlation(rows: Sequence[Pairs]) -> float:
    """Return the mean correlation of the rows' weighted deviations, less a share of 2 over their number."""
    parts = []
    for units in rows:
        mean = _mean(units)
        parts.append([weight * (value - mean) for weight, value in units])
    found = []
    for one, other in combinations(parts, 2):
        product = sum(a * b for a, b in zip(one, other, strict=True))
        found.append(product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other)))
    return max(0.0, sum(found) / len(found) * (1 - 2 / len(parts[0]))) if found else 0.0
