"""The outcome of a comparison: the numbers, the decision, and the sample they hold for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Unit = Literal["repository", "query"]
Weight = Literal["repository", "query"]
"""What counts once in a mean: each repository (the default everywhere), or each query."""
TestName = Literal["t", "sign-flip"]
Decision = Literal["better", "different", "practically the same", "undecided"]
"""``different`` takes the place of ``better`` where more is neither better nor worse."""

MIN_REPOSITORIES = 6
"""With fewer, t over repositories has too few degrees of freedom, and no flip of whole ones can reach p < 0.05."""

SIGNIFICANT = 0.05
MARGIN = 0.02
"""Differences within ± this are practically the same, in the measure's own unit: 2 points of a share."""
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval; low and high are NaN if the data cannot give one, and the caveat says why."""

    mean: float
    low: float
    high: float
    method: str
    """"t over repositories", "bounded mean over queries" or "none"."""
    n: int
    """Queries with a value."""
    undefined: int = 0
    """Queries whose value is NaN, which are excluded from the mean."""
    caveat: str = ""
    weight: Weight = "repository"
    n_units: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paired difference ``a - b``: how large, how certain, and over what.

    ``low``, ``high`` and ``p`` are corrected for the family: 95 % of the time, all intervals of a family are right. The
    corresponding ``…_alone`` are those of this pair by itself. Each p is that of the test whose inversion the interval
    is, so an interval excludes 0 exactly when its p is at most 0.05.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    p: float
    low_alone: float
    high_alone: float
    p_alone: float
    margin: float
    weight: Weight
    unit: Unit
    n_units: int
    n_clusters: int
    """Repositories with a value on both sides."""
    n_queries: int
    """Queries with a value on both sides."""
    undefined: int
    wins: int
    """Queries on which ``a`` has the higher value."""
    ties: int
    losses: int
    effect: float | None
    """Difference over the standard deviation between units; None if the units do not vary."""
    without_one_low: float
    """The smallest difference when one repository is left out; NaN with one repository."""
    without_one_high: float
    detectable: float
    """Smallest true difference that this comparison shows with 80 % power; NaN if none is, or the two never differ."""
    caveats: tuple[str, ...]
    test: TestName
    method: str
    """How interval and p were computed: "t over repositories", "bounded mean over queries", "sign flips over …"."""
    family: int
    """Number of comparisons corrected for."""
    flips: int
    """Number of sign vectors tried; 0 for a test without flips."""
    exact: bool
    """Whether all possible flips were tried."""
    seed: int
    higher_is_better: bool | None = True
    """None if more is neither better nor worse."""

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: the corrected interval excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def decision(self) -> Decision:
        """Return the decision that follows from the corrected interval.

        A difference that is shown and smaller than the margin is still "better"; see `within_margin`.
        """
        if self.shown:
            return "different" if self.higher_is_better is None else "better"
        return "practically the same" if self.within_margin else "undecided"

    @property
    def within_margin(self) -> bool:
        """Whether the corrected interval lies inside ± the margin."""
        return -self.margin < self.low and self.high < self.margin

    @property
    def better(self) -> str | None:
        """The better of the two; None if neither is shown to be."""
        if not self.shown or self.higher_is_better is None:
            return None
        return self.a if (self.difference > 0) == self.higher_is_better else self.b

    @property
    def p_corrected(self) -> float:
        """The family-wise p behind a claim: the same as ``p``."""
        return self.p

    @property
    def caveat(self) -> str:
        """All caveats in one line."""
        return "; ".join(self.caveats)

    def turned(self) -> Comparison:
        """Return the same comparison with the sides swapped: ``b - a``."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            low_alone=-self.high_alone,
            high_alone=-self.low_alone,
            wins=self.losses,
            losses=self.wins,
            effect=None if self.effect is None else -self.effect,
            without_one_low=-self.without_one_high,
            without_one_high=-self.without_one_low,
        )

    def row(self) -> dict[str, Any]:
        """Return the comparison as a plain mapping for JSON, with derived values."""
        derived = ("shown", "decision", "within_margin", "better", "p_corrected", "caveat")
        return plain({**asdict(self), **{name: getattr(self, name) for name in derived}})


LEAST = math.ulp(0.0)
"""The end of an interval that excludes 0 and nothing else."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One alternative among the others: its mean, and its distance from the best of the others."""

    name: str
    mean: float
    difference: float
    """This one minus the best of the others, in the measure's own unit."""
    low: float
    """Hsu's interval of the difference. The end that would make this one the best, or the only best, is clipped to 0.
    """
    high: float
    p: float
    """Against "this one is the best", corrected for the others; at most 0.05 exactly for those that are excluded."""
    may_be_best: bool
    rival: str | None
    """The best of the others."""

    @property
    def one_sided(self) -> bool:
        """Whether it is excluded by the decisive one-sided test, although a two-sided interval would include 0."""
        return not self.may_be_best and min(abs(self.low), abs(self.high)) == LEAST


@dataclass(frozen=True, slots=True)
class BestSet:
    """The alternatives that may be the best: with 95 % confidence the truly best one is among them."""

    may_be_best: tuple[str, ...]
    """In the order of their means, best first."""
    standings: tuple[Standing, ...]
    """All alternatives, in the order given."""
    weight: Weight
    unit: Unit
    n_units: int
    n_clusters: int
    n_queries: int
    detectable: float
    """Smallest distance from the best that excludes an alternative with 80 % power: the median over the pairs that
    ever differ; NaN if most of those can show no difference."""
    caveats: tuple[str, ...]
    method: str
    family: int
    """Number of comparisons per alternative corrected for."""
    higher_is_better: bool = True

    @property
    def excluded(self) -> tuple[str, ...]:
        """The alternatives shown not to be the best."""
        return tuple(each.name for each in self.standings if not each.may_be_best)

    def standing(self, name: str) -> Standing:
        """Return the standing of one alternative."""
        return next(each for each in self.standings if each.name == name)

    def row(self) -> dict[str, Any]:
        """Return the set as a plain mapping for JSON."""
        found = {name: getattr(self, name) for name in BestSet.__dataclass_fields__ if name != "standings"}
        return {**plain(found), "standings": [plain(asdict(each)) for each in self.standings]}


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping with None for numbers that JSON does not have, and lists for tuples."""
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value
