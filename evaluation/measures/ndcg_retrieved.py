"""nDCG whose ideal consists of the retrieved results only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import ratio
from evaluation.measures.measure import RankedMeasure, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class NdcgRetrieved(Share, RankedMeasure):
    """How well the first k results are ordered among themselves; unretrieved chunks do not count against it."""

    label: ClassVar[str] = "ndcg_retrieved"
    pattern: ClassVar[str] = "ndcg_retrieved@k"
    definition: ClassVar[str] = (
        "DCG of the first k results over the DCG of the same results in their best order; never beside ndcg@k"
    )
    template: ClassVar[str] = "how well {top} are ordered among themselves, whatever was missed"
    citation: ClassVar[str] = "the form used where judgements are incomplete, e.g. when relevance is guessed per result"
    properties: ClassVar[frozenset[str]] = frozenset("bounded perfect empty rename top_heavy".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return DCG over the best DCG of the same results."""
        gains = batch.gains[:, : self.cutoff]
        discount = 1 / np.log2(np.arange(gains.shape[1]) + 2)
        best = -np.sort(-gains, axis=1) @ discount
        # The two sums may differ in their last bit if the order is already the best.
        return ratio(np.minimum(gains @ discount, best), best)
