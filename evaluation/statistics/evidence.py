"""One procedure per comparison that yields its p, its interval at any level, and its decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from evaluation.statistics.bounded import bounded_mean
from evaluation.statistics.flips import SignFlips, sign_flips
from evaluation.statistics.samples import Level, Samples, fold, queries_of
from evaluation.statistics.student import student_t
from evaluation.statistics.types import SIGNIFICANT, TestName, Unit, Weight

_ALIKE_FROM = 60
"""Queries that must be equal before two alternatives are taken to be identical; of fewer, one in twenty may differ."""
_GUARD_LEVEL = 0.05
"""One-sided; not corrected for a family, because all its comparisons miss the same rare queries."""
GUARDED_FROM = 2
"""Queries per repository from which they add information to the repository means."""


class Evidence(Protocol):
    """One-sided tests of a mean of 0 and the bounds that invert them, for many comparisons at once.

    ``lower(level) > 0`` exactly where ``p_above() <= level``, and likewise above.
    """

    @property
    def estimates(self) -> np.ndarray:
        """The estimated means."""

    @property
    def errors(self) -> np.ndarray:
        """Their standard errors."""

    def p_above(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at most 0"."""

    def p_below(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at least 0"."""

    def lower(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is below with at most this probability."""

    def upper(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is above with at most this probability."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Evidence in which rows of many zeros and nothing else are certain: the two alternatives are identical."""

    rest: Evidence
    alike: np.ndarray

    @property
    def estimates(self) -> np.ndarray:
        """The estimated means."""
        return self.rest.estimates

    @property
    def errors(self) -> np.ndarray:
        """Their standard errors."""
        return self.rest.errors

    def p_above(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at most 0"."""
        return np.where(self.alike, 1.0, self.rest.p_above())

    def p_below(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at least 0"."""
        return np.where(self.alike, 1.0, self.rest.p_below())

    def lower(self, level: Level) -> np.ndarray:
        """Return 0 where the two are identical, else the bound."""
        return np.where(self.alike, 0.0, self.rest.lower(level))

    def upper(self, level: Level) -> np.ndarray:
        """Return 0 where the two are identical, else the bound."""
        return np.where(self.alike, 0.0, self.rest.upper(level))


@dataclass(frozen=True, slots=True)
class Guarded:
    """Evidence that counts only where a second procedure, at its own fixed level, does not contradict it."""

    main: Evidence
    guard: Evidence
    guarded: np.ndarray
    """Which comparisons have queries enough for it; the others stand on the main procedure alone."""
    floor: np.ndarray
    """The guard's lower bound at its level, where it is below the main one; requested levels are no larger."""
    ceiling: np.ndarray

    @property
    def estimates(self) -> np.ndarray:
        """The estimated means."""
        return self.main.estimates

    @property
    def errors(self) -> np.ndarray:
        """Their standard errors."""
        return self.main.errors

    def p_above(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at most 0"."""
        return self._guarded_p(self.main.p_above(), self.guard.p_above())

    def p_below(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at least 0"."""
        return self._guarded_p(self.main.p_below(), self.guard.p_below())

    def lower(self, level: Level) -> np.ndarray:
        """Return the lower of the two bounds."""
        return np.asarray(np.minimum(self.main.lower(level), self.floor))

    def upper(self, level: Level) -> np.ndarray:
        """Return the upper of the two bounds."""
        return np.asarray(np.maximum(self.main.upper(level), self.ceiling))

    def _guarded_p(self, main: np.ndarray, guard: np.ndarray) -> np.ndarray:
        return np.where(self.guarded & (guard > _GUARD_LEVEL), np.maximum(main, guard), main)


class Span(NamedTuple):
    """The range in which a mean can lie, and whether it is known or only observed."""

    least: float
    most: float
    known: bool


class Settings(NamedTuple):
    """How evidence is computed."""

    weight: Weight
    test: TestName
    flips: int
    seed: int


class Ends(NamedTuple):
    """Both ends of every comparison's interval."""

    low: np.ndarray
    high: np.ndarray


class Found(NamedTuple):
    """p and bounds of every comparison, at one level."""

    p: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Group(NamedTuple):
    """Comparisons that share a unit, with their evidence."""

    rows: np.ndarray
    unit: Unit
    method: str
    evidence: Evidence
    samples: Samples
    flips: int
    exact: bool


def weigh(
    values: np.ndarray, clusters: Sequence[str], *, span: Span, settings: Settings, paired: bool = True
) -> list[Group]:
    """Return the evidence about the mean of each row of [comparisons × queries], grouped by unit.

    From six repositories on it is t over repositories. Where the range of the values is known, bounds over the queries
    guard it: the means of few queries may agree only because none met a rare large value. With fewer repositories, it
    is the bounds over the queries alone. Zeros alone are certain only where the values are ``paired`` differences: the
    two alternatives are identical.
    """
    groups = []
    for unit, (rows, samples) in fold(values, clusters, weight=settings.weight).items():
        if settings.test == "sign-flip":
            evidence: Evidence = sign_flips(samples, flips=settings.flips, seed=settings.seed)
            method = f"sign flips over {_PLURAL[unit]}"
        elif unit == "query":
            evidence = bounded_mean(samples, least=span.least, most=span.most)
            method = "bounded mean over queries"
        else:
            evidence = _guarded(values[rows], clusters, samples, span, paired=paired)
            method = "t over repositories"
        tried, exact = (evidence.flips, evidence.exact) if isinstance(evidence, SignFlips) else (0, False)
        alike = (
            paired & ~np.nan_to_num(values[rows]).any(axis=1) & ((~np.isnan(values[rows])).sum(axis=1) >= _ALIKE_FROM)
        )
        certain = Alike(evidence, alike) if alike.any() else evidence
        groups.append(Group(rows, unit, method, certain, samples, tried, exact))
    return groups


_PLURAL: dict[Unit, str] = {"repository": "repositories", "query": "queries"}


def _guarded(values: np.ndarray, clusters: Sequence[str], samples: Samples, span: Span, *, paired: bool) -> Evidence:
    plain = student_t(samples)
    guarded = span.known & ((~np.isnan(values)).sum(axis=1) >= GUARDED_FROM * samples.counts)
    # Without a guard, differences that are all 0 give t an interval of width 0, which a few queries do not justify.
    silent = paired & ~guarded & ~np.nan_to_num(values).any(axis=1)
    floor, ceiling = np.where(silent, span.least, np.inf), np.where(silent, span.most, -np.inf)
    guard: Evidence = plain
    if guarded.any():
        guard = bounds = bounded_mean(
            queries_of(values, clusters, weight=samples.weight), least=span.least, most=span.most, worst="typical"
        )
        floor = np.where(guarded, bounds.lower_if_below(plain.lower(_GUARD_LEVEL), _GUARD_LEVEL), floor)
        ceiling = np.where(guarded, bounds.upper_if_above(plain.upper(_GUARD_LEVEL), _GUARD_LEVEL), ceiling)
    return Guarded(plain, guard, guarded, floor, ceiling) if (guarded | silent).any() else plain


def two_sided(evidence: Evidence, span: Span, *, family: int = 1) -> Found:
    """Return p and interval of every comparison, corrected for a family by Bonferroni's inequality.

    Bonferroni's correction holds for any correlation, and it is a level: the corrected interval is the interval of the
    same test at that level. Compared with max-T, it loses 1 to 2 points of power.
    """
    level = SIGNIFICANT / 2 / family
    p = np.minimum(1.0, 2 * family * np.minimum(evidence.p_above(), evidence.p_below()))
    low, high = within(span, evidence.lower(level), evidence.upper(level))
    return Found(agreeing(p, (low > 0) | (high < 0)), low, high)


def within(span: Span, low: np.ndarray, high: np.ndarray) -> Ends:
    """Clip an interval to the range that a mean can have, where that is known."""
    return Ends(np.maximum(low, span.least), np.minimum(high, span.most)) if span.known else Ends(low, high)


def agreeing(p: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Return p on the same side of the level as the interval: the two may differ by rounding of a bound."""
    return np.where(shown, np.minimum(p, SIGNIFICANT), np.where(p <= SIGNIFICANT, np.nextafter(SIGNIFICANT, 1), p))
