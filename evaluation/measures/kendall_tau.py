"""Kendall's rank correlation with a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.measure import Measure, Need
from evaluation.types import Case

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch

Variant = Literal["b", "a", "c", "literal"]
Number = Any
"""A number, or an array with one per case."""

_BLOCK = 512


class Tally(NamedTuple):
    """Concordant minus discordant pairs, concordant pairs, and the pairs that tie in x and in y."""

    balance: Number
    concordant: Number
    tied_x: Number
    tied_y: Number


def kendall_tau(x: np.ndarray, y: np.ndarray, *, variant: Variant = "b") -> float:
    """Return the correlation of two vectors; NaN for fewer than two items or if one of them is constant.

    a divides by all pairs, b corrects for ties, c for ties in tables that are not square; "literal" counts every pair
    that is not concordant as discordant, including ties.
    """
    x, y = np.asarray(x), np.asarray(y)
    pairs = len(x) * (len(x) - 1) / 2
    distinct = min(len(np.unique(x)), len(np.unique(y)))
    if pairs == 0 or distinct < 2:
        return float("nan")
    return float(correlation(_count_pairs(x, y), np.float64(len(x)), np.float64(distinct), variant=variant))


def correlation(tally: Tally, n: Number, distinct: Number, *, variant: Variant) -> Number:
    """Return the coefficient from the counts of pairs; ``distinct`` is the smaller number of distinct values."""
    pairs = n * (n - 1) / 2
    if variant == "a":
        return tally.balance / pairs
    if variant == "b":
        return tally.balance / np.sqrt((pairs - tally.tied_x) * (pairs - tally.tied_y))
    if variant == "c":
        return 2 * tally.balance * distinct / (n**2 * (distinct - 1))
    return (2 * tally.concordant - pairs) / pairs


def _count_pairs(x: np.ndarray, y: np.ndarray) -> Tally:
    """Return the counts of all pairs, computed in blocks of rows."""
    totals = np.zeros(4)
    for begin in range(0, len(x), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        dx, dy = np.sign(x[rows, None] - x[None, :]), np.sign(y[rows, None] - y[None, :])
        product = dx * dy
        totals += (product.sum(), (product > 0).sum(), (dx == 0).sum(), (dy == 0).sum())
    # Every pair was counted twice, and every item once with itself.
    return Tally(*((totals - (0, 0, len(x), len(x))) / 2))


@dataclass(frozen=True, kw_only=True)
class KendallTau(Measure):
    """Correlation of the ranking with a full reference ranking of the same chunks; without ties, a, b and c agree."""

    variant: Variant = "b"
    positional: ClassVar[str | None] = "variant"
    label: ClassVar[str] = "kendall_tau"
    pattern: ClassVar[str] = "kendall_tau(b|a|c|literal)"
    template: ClassVar[str] = "agreement of the order of the results with a reference ranking"
    definition: ClassVar[str] = (
        "concordant minus discordant pairs over all pairs, against a reference ranking of the same items"
    )
    citation: ClassVar[str] = "Kendall 1945, The treatment of ties in ranking problems"
    needs: ClassVar[frozenset[Need]] = frozenset({"reference"})
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect rename ioi_graded symmetric type1 type2_items".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return the correlation for each case."""
        return batch.each(self._one)

    def _one(self, case: Case) -> float:
        if case.reference is None:
            raise UsageError(f"query {case.query_id!r} has no reference ranking, which {self.name} needs")
        place = {item: rank for rank, item in enumerate(case.reference)}
        if len(case.ranking) != len(place) or any(item not in place for item in case.ranking):
            raise UsageError(
                f"query {case.query_id!r}: the ranking and its reference do not hold the same items: use rbo instead"
            )
        ranks = np.arange(len(place))
        return kendall_tau(ranks, np.array([place[item] for item in case.ranking]), variant=self.variant)


@dataclass(frozen=True, kw_only=True)
class KendallTauGrades(Measure):
    """Correlation of the ranking with the judged grades of its results, which tie."""

    variant: Variant = "b"
    positional: ClassVar[str | None] = "variant"
    label: ClassVar[str] = "kendall_tau_grades"
    pattern: ClassVar[str] = "kendall_tau_grades(b|a|c|literal)"
    template: ClassVar[str] = "agreement of the order of the results with their grades"
    definition: ClassVar[str] = "Kendall's tau of the ranking against its results' grades; undefined if all are equal"
    citation: ClassVar[str] = "Kendall 1945, The treatment of ties in ranking problems"
    needs: ClassVar[frozenset[Need]] = frozenset({"grades"})
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename ioi_graded type1 monotone".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return the correlation for each case; earlier must mean higher."""
        count = batch.returned
        # Beyond its end, a row has a grade that no result has.
        grades = np.where(np.arange(batch.gains.shape[1]) < count[:, None], batch.gains, -1.0)
        concordant, tied, levels = np.zeros((3, len(batch)))
        for level in np.unique(np.append(np.maximum(batch.judged[1], 0.0), 0.0)):
            here, higher_before = grades == level, np.cumsum(grades > level, axis=1)
            concordant += (here * higher_before).sum(axis=1)
            size = here.sum(axis=1)
            tied += size * (size - 1) / 2
            levels += size > 0
        pairs = count * (count - 1) / 2
        tally = Tally(2 * concordant - (pairs - tied), concordant, np.zeros(len(batch)), tied)
        defined = levels >= 2
        values = np.full(len(batch), np.nan)
        values[defined] = correlation(
            Tally(*(part[defined] for part in tally)), count[defined], levels[defined], variant=self.variant
        )
        return values
