"""Average precision with a divisor capped at k, so that k results can reach 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import ratio
from evaluation.measures.trec_measure import TrecBinary

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class ApCapped(TrecBinary):
    """Average precision over min(relevant, k): a perfect top k scores 1 however many are relevant."""

    label: ClassVar[str] = "ap_capped"
    pattern: ClassVar[str] = "ap_capped@k"
    definition: ClassVar[str] = "sum of precision at each relevant result among the first k, over min(relevant, k)"
    template: ClassVar[str] = "precision at each relevant result among {top}, averaged over as many as fit"
    citation: ClassVar[str] = "the form of average precision used in recommendation, e.g. Kaggle's MAP@k"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable engine".split()
    )
    needs_cutoff: ClassVar[bool] = True

    @property
    def trec_name(self) -> str:
        """``map_cut_k``, which divides by all relevant chunks."""
        return f"map_cut_{self.cutoff}"

    def score(self, batch: Batch) -> np.ndarray:
        """Return the engine's value with its divisor replaced."""
        relevant = batch.relevant_counts(self.rel)
        return ratio(batch.trec(self) * relevant, np.minimum(relevant, self.cutoff or np.inf))
