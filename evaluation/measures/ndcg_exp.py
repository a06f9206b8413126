"""nDCG with exponential gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.budget_recall import ratio
from evaluation.measures.measure import RankedMeasure, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch

LARGEST = 1000
"""Approximately the highest grade whose gain fits a float."""


@dataclass(frozen=True, kw_only=True)
class NdcgExp(Share, RankedMeasure):
    """nDCG with a grade g worth 2^g - 1: on binary judgements the same as nDCG."""

    label: ClassVar[str] = "ndcg_exp"
    pattern: ClassVar[str] = "ndcg_exp@k"
    definition: ClassVar[str] = "nDCG with gain 2^grade - 1 in place of the grade"
    template: ClassVar[str] = "how well {top} are ordered, high grades counting exponentially more"
    citation: ClassVar[str] = "Burges et al. 2005, Learning to rank using gradient descent"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable engine ioi_graded".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return the DCG of the exponential gains over that of the best ranking of all judged chunks."""
        owner, grades = batch.judged
        if (highest := grades.max(initial=0)) > LARGEST:
            raise UsageError(f"ndcg_exp takes grades up to {LARGEST}, not {highest:g}: scale them, or use ndcg")
        # Judgements are sorted by case, so a rank is the distance from the first one of the case.
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        top = rank < (self.cutoff or len(owner))
        ideal = np.bincount(owner[top], weights=_gain(grades[top]) / np.log2(rank[top] + 2), minlength=len(batch))
        gains = _gain(batch.gains[:, : self.cutoff])
        dcg = gains @ (1 / np.log2(np.arange(gains.shape[1]) + 2))
        # The two sums may differ in their last bit if the ranking is the best.
        return ratio(np.minimum(dcg, ideal), ideal)


def _gain(grades: np.ndarray) -> np.ndarray:
    gain: np.ndarray = np.exp2(np.maximum(grades, 0.0)) - 1
    return gain
