"""Intersection over union of what is read and the gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import TextMeasure, ratio

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class BudgetIou(TextMeasure):
    """Gold that is read, over all that is read or gold."""

    label: ClassVar[str] = "iou"
    pattern: ClassVar[str] = "iou@B"
    definition: ClassVar[str] = "gold units read within B units, divided by the units that are read or gold"
    template: ClassVar[str] = "overlap of the first {budget} read with the code that answers"
    citation: ClassVar[str] = "Smith and Troynikov 2024, Evaluating chunking strategies for retrieval; here at a budget"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename monotone split duplicate".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return y/(x + T - y)."""
        gold = self.gold_read(batch)
        return ratio(gold, self.units_read(batch) + batch.reading(self.budget_unit).total - gold)
