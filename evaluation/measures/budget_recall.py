"""Recall of gold text at a reading budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.measure import BudgetMeasure, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class TextMeasure(Share, BudgetMeasure):
    """A measure of the reading curve at a budget."""

    charge_duplicates: bool = False
    """Whether text that was already read costs budget again."""

    def gold_read(self, batch: Batch) -> np.ndarray:
        """Return y(B): the gold units that are read within the budget."""
        reading = batch.reading(self.budget_unit)
        gold = reading.curve(charge_duplicates=self.charge_duplicates).gold
        return reading.per_case(gold.case, gold.within(self.budget))

    def units_read(self, batch: Batch) -> np.ndarray:
        """Return x at the end: the budget, or less where the ranking is shorter."""
        size = batch.reading(self.budget_unit).curve(charge_duplicates=self.charge_duplicates).size
        read: np.ndarray = np.minimum(size, self.budget)
        return read


@dataclass(frozen=True, kw_only=True)
class BudgetRecall(TextMeasure):
    """Share of the gold text that is read within the budget."""

    label: ClassVar[str] = "recall"
    pattern: ClassVar[str] = "recall@B"
    definition: ClassVar[str] = "gold units among the first B units that are read, divided by all gold units"
    template: ClassVar[str] = "of the code that answers, the share shown once {budget} are read"
    citation: ClassVar[str] = "this project; the text form of recall, at equal reading for every chunker"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone stable split duplicate chance".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return y(B)/T."""
        return ratio(self.gold_read(batch), batch.reading(self.budget_unit).total)


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part/whole, and 0 where there is nothing to divide by: no gold, or nothing read."""
    quotient: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return quotient
