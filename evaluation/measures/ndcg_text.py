"""nDCG of the reading itself: every unit of gold is a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import TextMeasure, ratio

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class NdcgText(TextMeasure):
    """Gold units discounted by how much was read before them, over the same when all gold comes first."""

    label: ClassVar[str] = "ndcg_text"
    pattern: ClassVar[str] = "ndcg_text@B"
    definition: ClassVar[str] = (
        "integral of 1/log2(2+x) over the gold that is read within B units, divided by the same from 0 to min(T, B)"
    )
    template: ClassVar[str] = (
        "how much of the code that answers is shown within {budget}, discounted by what is read before it"
    )
    citation: ClassVar[str] = "this project; Järvelin and Kekäläinen's discount over units of text in place of ranks"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable split duplicate chance".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return the ratio of the two integrals in closed form, by the logarithmic integral."""
        reading = batch.reading(self.budget_unit)
        gold = reading.curve(charge_duplicates=self.charge_duplicates).gold
        discounted = _discount(gold.x, gold.x + gold.within(self.budget))
        ideal = _discount(np.zeros(len(batch)), np.minimum(reading.total, self.budget))
        # Both are sums of differences of large numbers: the last bit may pass 1.
        return ratio(np.minimum(reading.per_case(gold.case, discounted), ideal), ideal)


def _discount(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the integral of 1/ln(2+x); the base of the logarithm cancels."""
    from scipy.special import expi

    area: np.ndarray = expi(np.log(2 + end)) - expi(np.log(2 + begin))
    return area
