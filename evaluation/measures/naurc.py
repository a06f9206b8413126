"""Area under the curve of gold read against text read: the headline measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import TextMeasure, ratio

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class Naurc(TextMeasure):
    """Area under the reading curve up to the budget, over that of a reader who meets nothing but gold."""

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

    def score(self, batch: Batch) -> np.ndarray:
        """Return the ratio of the two areas, both in closed form."""
        reading = batch.reading(self.budget_unit)
        gold = reading.curve(charge_duplicates=self.charge_duplicates).gold
        part = gold.within(self.budget)
        # A unit of gold that is read at x counts from x to the budget.
        area = reading.per_case(gold.case, part * (self.budget - gold.x) - part * part / 2)
        first = np.minimum(reading.total, self.budget)
        return ratio(area, first * self.budget - first * first / 2)
