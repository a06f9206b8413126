"""Recall of gold text at a reading budget."""

from __future__ import annotations

from abc import abstractmethod
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


@dataclass(frozen=True, kw_only=True)
class CurveMeasure(TextMeasure):
    """A measure of gold as it is read: each piece of gold has a worth, and their sum determines the value.

    Chance level and ceiling follow from `worth` and `value` alone, so every measure of this form has them.
    """

    linear: ClassVar[bool] = True
    """Whether the value is proportional to the sum of the worths."""

    @abstractmethod
    def worth(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the worth of pieces of gold of this length that begin after x units of reading."""

    @abstractmethod
    def value(self, worth: np.ndarray, total: np.ndarray, read: np.ndarray) -> np.ndarray:
        """Return the score from the sum of the worths, the units of gold and the units read within the budget."""

    def score(self, batch: Batch) -> np.ndarray:
        """Return the value of each case."""
        reading = batch.reading(self.budget_unit)
        curve = reading.curve(charge_duplicates=self.charge_duplicates)
        worth = reading.per_case(curve.gold.case, self.worth(curve.gold.x, curve.gold.length))
        return self.value(worth, reading.total, np.minimum(curve.size, self.budget))

    def within(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return how much of each piece is read before the budget is spent."""
        part: np.ndarray = np.clip(self.budget - x, 0, length)
        return part


@dataclass(frozen=True, kw_only=True)
class BudgetRecall(CurveMeasure):
    """Share of the gold text that is read within the budget."""

    label: ClassVar[str] = "recall"
    pattern: ClassVar[str] = "recall@B"
    definition: ClassVar[str] = "gold units among the first B units that are read, divided by all gold units"
    template: ClassVar[str] = "of the code that answers, the share shown once {budget} are read"
    citation: ClassVar[str] = "this project; the text form of recall, at equal reading for every chunker"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone stable split duplicate chance".split()
    )

    def worth(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the gold units read within the budget."""
        return self.within(x, length)

    def value(self, worth: np.ndarray, total: np.ndarray, read: np.ndarray) -> np.ndarray:  # noqa: ARG002 - one shape
        """Return y(B)/T."""
        return ratio(worth, total)


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part/whole, or 0 if there is nothing to divide by: no gold, or nothing read."""
    quotient: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return quotient
