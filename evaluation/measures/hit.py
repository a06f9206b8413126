"""Whether anything relevant was found at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.trec_measure import TrecBinary

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class HitRate(TrecBinary):
    """1 if a relevant chunk is among the first k, else 0."""

    label: ClassVar[str] = "hit"
    pattern: ClassVar[str] = "hit@k"
    definition: ClassVar[str] = "1 if any of the first k results is relevant, else 0 (also called success@k)"
    template: ClassVar[str] = "share of the queries with a relevant result among {top}"
    citation: ClassVar[str] = "trec_eval success_k"
    properties: ClassVar[frozenset[str]] = frozenset("bounded perfect empty rename monotone stable engine".split())

    @property
    def trec_name(self) -> str:
        """``success_k``, or by the reciprocal rank over all results."""
        return "recip_rank" if self.cutoff is None else f"success_{self.cutoff}"

    def score(self, batch: Batch) -> np.ndarray:
        """Return 1 if there is a first relevant result within the cutoff."""
        return (batch.trec(self) > 0).astype(float)
