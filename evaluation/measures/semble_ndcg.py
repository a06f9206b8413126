"""nDCG as semble scores its benchmark: each target once, at the first result that shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.measure import Need, RankedMeasure, Share
from evaluation.types import TextCase

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class SembleNdcg(Share, RankedMeasure):
    """Discounted gain of gold regions, each at its first result, over the ideal of one region per rank."""

    label: ClassVar[str] = "semble_ndcg"
    pattern: ClassVar[str] = "semble_ndcg@k"
    definition: ClassVar[str] = (
        "sum of 1/log2(rank+1) over the ranks at which a gold region is first touched, several at one rank counted "
        "once, over the same sum for min(k, regions) ranks; grades do not count"
    )
    citation: ClassVar[str] = "semble's benchmarks (MinishLab): results are chunks, not deduplicated by file"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable duplicate".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return the ratio of each case; 0 without gold."""
        return np.array([self._one(text) for text in batch.texts])

    def _one(self, text: TextCase) -> float:
        ranks = set()
        for target in text.gold:
            for rank, shown in enumerate(text.results[: self.cutoff], start=1):
                if shown.file == target.file and shown.start < target.end and target.start < shown.end:
                    ranks.add(rank)
                    break
        possible = len(text.gold) if self.cutoff is None else min(self.cutoff, len(text.gold))
        return _dcg(ranks) / _dcg(range(1, possible + 1)) if possible else 0.0


def _dcg(ranks: range | set[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)
