"""Text that is sent repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.budget_recall import ratio
from evaluation.measures.measure import BudgetMeasure, Direction, Need, RankedMeasure, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class Redundancy(Share, RankedMeasure):
    """Share of the lines of the first k results that an earlier one of them already showed."""

    label: ClassVar[str] = "redundancy"
    pattern: ClassVar[str] = "redundancy@k"
    definition: ClassVar[str] = "lines of the first k results that an earlier one already showed, over all their lines"
    template: ClassVar[str] = "of the lines of {top}, the share already shown by an earlier one"
    citation: ClassVar[str] = "this project"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    direction: ClassVar[Direction] = "lower"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename".split())

    @property
    def units(self) -> frozenset[SizeUnit]:
        """Lines."""
        return frozenset({"lines"})

    def score(self, batch: Batch) -> np.ndarray:
        """Return lines sent again over lines sent."""
        top = batch.reading("lines").top(self.cutoff)
        return ratio(top.again, top.sent)


@dataclass(frozen=True, kw_only=True)
class BudgetRedundancy(Share, BudgetMeasure):
    """Share of a prompt of B units, filled in rank order, that repeats what it already holds."""

    label: ClassVar[str] = "redundancy"
    pattern: ClassVar[str] = "redundancy@B"
    definition: ClassVar[str] = "units sent again over units sent, when the ranking is sent as it is up to B units"
    template: ClassVar[str] = "of the first {budget} sent, the share sent before"
    citation: ClassVar[str] = "this project"
    direction: ClassVar[Direction] = "lower"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename split".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return units sent again over units sent; here every unit that is sent counts."""
        reading = batch.reading(self.budget_unit)
        again = reading.charged.again
        sent = np.minimum(reading.charged.size, self.budget)
        return ratio(reading.per_case(again.case, again.within(self.budget)), sent)
