"""Area under the curve of gold read against text read: the headline measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.measures.budget_recall import CurveMeasure, ratio


@dataclass(frozen=True, kw_only=True)
class Naurc(CurveMeasure):
    """Area under the reading curve up to the budget, over that of a reader who reads only gold."""

    label: ClassVar[str] = "naurc"
    pattern: ClassVar[str] = "naurc@B"
    definition: ClassVar[str] = (
        "area under gold units read against units read, from 0 to B, divided by the area when all gold comes first"
    )
    template: ClassVar[str] = "how much of the code that answers is shown, and how early, within {budget} of reading"
    citation: ClassVar[str] = "this project; the normalised area under the recall-against-budget curve"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable split duplicate chance".split()
    )

    def worth(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the area under the piece: a unit of gold read at x counts from x to the budget."""
        part = self.within(x, length)
        area: np.ndarray = part * (self.budget - x) - part * part / 2
        return area

    def value(self, worth: np.ndarray, total: np.ndarray, read: np.ndarray) -> np.ndarray:  # noqa: ARG002 - one shape
        """Return the ratio of the two areas, both in closed form."""
        first = np.minimum(total, self.budget)
        return ratio(worth, first * self.budget - first * first / 2)
