"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.trec_measure import TrecBinary

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class Mrr(TrecBinary):
    """One over the rank of the first relevant result, 0 if there is none among the first k."""

    label: ClassVar[str] = "mrr"
    pattern: ClassVar[str] = "mrr@k"
    definition: ClassVar[str] = (
        "1/rank of the first relevant result, 0 if none is among the first k; mean over all queries"
    )
    template: ClassVar[str] = "one over the rank of the first relevant result, 0 if it is not among {top}"
    citation: ClassVar[str] = "Voorhees 1999, The TREC-8 question answering track report"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable engine".split()
    )

    @property
    def trec_name(self) -> str:
        """``recip_rank``: the engine has no cutoff for it."""
        return "recip_rank"

    def score(self, batch: Batch) -> np.ndarray:
        """Return the reciprocal rank where the rank is within the cutoff."""
        values = batch.trec(self)
        if self.cutoff is None:
            return values
        # Half a rank of slack: 1/k is compared with 1/(k + 1/2), not with itself.
        return np.where(values > 1 / (self.cutoff + 0.5), values, 0.0)
