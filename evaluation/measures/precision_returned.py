"""Precision over the returned results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import ratio
from evaluation.measures.measure import BinaryMeasure, Share, relevance

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class PrecisionReturned(Share, BinaryMeasure):
    """Relevant results among the first k, divided by how many of the k were returned."""

    label: ClassVar[str] = "precision_returned"
    pattern: ClassVar[str] = "precision_returned@k"
    definition: ClassVar[str] = "relevant results among the first k, divided by the number returned, at most k"
    template: ClassVar[str] = "of the results returned among {top}, the share that is relevant"
    citation: ClassVar[str] = "what many RAG harnesses compute under the name precision@k; trec_eval set_P without k"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename monotone".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return hits over returned; 0 if nothing was returned."""
        gains = batch.gains[:, : self.cutoff]
        hits = relevance(self.rel)(gains).sum(axis=1)
        return ratio(hits, np.minimum(batch.returned, self.cutoff or np.inf))
