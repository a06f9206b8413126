"""Precision of what is read at a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import TextMeasure, ratio

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class BudgetPrecision(TextMeasure):
    """Share of the text read within the budget that is gold."""

    label: ClassVar[str] = "precision"
    pattern: ClassVar[str] = "precision@B"
    definition: ClassVar[str] = "gold units among the first B units that are read, divided by the units read"
    template: ClassVar[str] = "of the first {budget} read, the share that is code that answers"
    citation: ClassVar[str] = "this project; the text form of precision_returned"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename monotone split duplicate chance".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return y(B)/x; 0 where nothing is read."""
        return ratio(self.gold_read(batch), self.units_read(batch))
