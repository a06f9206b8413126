"""Intersection over union of what is read and the gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.measures.budget_recall import CurveMeasure, ratio


@dataclass(frozen=True, kw_only=True)
class BudgetIou(CurveMeasure):
    """Gold that is read, over everything that is read or gold."""

    linear: ClassVar[bool] = False
    label: ClassVar[str] = "iou"
    pattern: ClassVar[str] = "iou@B"
    definition: ClassVar[str] = "gold units read within B units, divided by the units that are read or gold"
    template: ClassVar[str] = "overlap of the first {budget} read with the code that answers"
    citation: ClassVar[str] = "Smith and Troynikov 2024, Evaluating chunking strategies for retrieval; here at a budget"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename monotone split duplicate".split())

    def worth(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the gold units read within the budget."""
        return self.within(x, length)

    def value(self, worth: np.ndarray, total: np.ndarray, read: np.ndarray) -> np.ndarray:
        """Return y/(x + T - y)."""
        return ratio(worth, read + total - worth)
