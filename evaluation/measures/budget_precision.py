"""Precision of what is read at a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.measures.budget_recall import CurveMeasure, ratio


@dataclass(frozen=True, kw_only=True)
class BudgetPrecision(CurveMeasure):
    """Share of the text read within the budget that is gold."""

    label: ClassVar[str] = "precision"
    pattern: ClassVar[str] = "precision@B"
    definition: ClassVar[str] = "gold units among the first B units that are read, divided by the units read"
    template: ClassVar[str] = "of the first {budget} read, the share that is code that answers"
    citation: ClassVar[str] = "this project; the text form of precision_returned"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename monotone split duplicate chance".split())

    def worth(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the gold units read within the budget."""
        return self.within(x, length)

    def value(self, worth: np.ndarray, total: np.ndarray, read: np.ndarray) -> np.ndarray:  # noqa: ARG002 - one shape
        """Return y(B)/x; 0 if nothing is read."""
        return ratio(worth, read)
