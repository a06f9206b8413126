"""nDCG with exponential gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures import engine
from evaluation.measures.measure import RankedMeasure

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch

LARGEST = 30
"""The highest grade whose gain the engine can hold."""


@dataclass(frozen=True, kw_only=True)
class NdcgExp(RankedMeasure):
    """nDCG where a grade g is worth 2^g - 1: on binary judgements the same as nDCG."""

    label: ClassVar[str] = "ndcg_exp"
    pattern: ClassVar[str] = "ndcg_exp@k"
    definition: ClassVar[str] = "nDCG with gain 2^grade - 1 in place of the grade"
    citation: ClassVar[str] = "Burges et al. 2005, Learning to rank using gradient descent"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable engine ioi_graded".split()
    )

    @property
    def trec_name(self) -> str:
        """``ndcg_cut_k``, or ``ndcg`` over all results."""
        return "ndcg" if self.cutoff is None else f"ndcg_cut_{self.cutoff}"

    @property
    def gains_key(self) -> tuple[str, str]:
        """Exponential gains."""
        return ("exponential", "")

    def integer_gains(self, grades: Mapping[str, float]) -> Mapping[str, int]:
        """Return the exponential gains, to a millionth."""
        highest = max(grades.values(), default=0)
        if highest > LARGEST:
            raise UsageError(f"ndcg_exp takes grades up to {LARGEST}, not {highest:g}: scale them, or use ndcg")
        return engine.integer_gains({key: 2**grade - 1 if grade > 0 else 0 for key, grade in grades.items()})

    def score(self, batch: Batch) -> np.ndarray:
        """Return the engine's nDCG of the exponential gains."""
        return batch.trec(self)
