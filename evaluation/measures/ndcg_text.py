"""nDCG of the text as read: every unit of gold is a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.measures.budget_recall import CurveMeasure, ratio


@dataclass(frozen=True, kw_only=True)
class NdcgText(CurveMeasure):
    """Gold units discounted by how much was read before them, over the same with all gold first."""

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

    def worth(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the integral of the discount over the piece, by the logarithmic integral."""
        return _discount(x, x + self.within(x, length))

    def value(self, worth: np.ndarray, total: np.ndarray, read: np.ndarray) -> np.ndarray:  # noqa: ARG002 - one shape
        """Return the ratio of the two integrals in closed form."""
        ideal = _discount(np.zeros(len(total)), np.minimum(total, self.budget))
        # Both are sums of differences of large numbers: the last bit may exceed 1.
        return ratio(np.minimum(worth, ideal), ideal)


def _discount(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the integral of 1/ln(2+x); the base of the logarithm cancels."""
    from scipy.special import expi

    area: np.ndarray = expi(np.log(2 + end)) - expi(np.log(2 + begin))
    return area
