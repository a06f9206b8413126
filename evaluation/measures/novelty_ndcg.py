"""nDCG with gains that shrink for a result similar to an earlier one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.budget_recall import ratio
from evaluation.measures.ild import vectors_of
from evaluation.measures.measure import Need, RankedMeasure, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class NoveltyNdcg(Share, RankedMeasure):
    """Gain grade·(alpha + (1 - alpha)·novelty): alpha 1 is nDCG, the reverse of alpha_ndcg."""

    alpha: float = 0.5
    label: ClassVar[str] = "novelty_ndcg"
    pattern: ClassVar[str] = "novelty_ndcg@k(alpha=0.5)"
    definition: ClassVar[str] = (
        "nDCG with gain grade*(alpha + (1-alpha)*novelty), novelty = 1 - greatest cosine to an earlier result; above 1 "
        "where cosines are negative"
    )
    template: ClassVar[str] = "how well {top} are ordered, results that resemble earlier ones counting less"
    citation: ClassVar[str] = "the embedding form that the Dartboard evaluation calls alpha-nDCG"
    needs: ClassVar[frozenset[Need]] = frozenset({"grades", "vectors"})
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    properties: ClassVar[frozenset[str]] = frozenset("empty rename stable".split())

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise UsageError(f"alpha of novelty_ndcg must be from 0 to 1, not {self.alpha:g}")

    def score(self, batch: Batch) -> np.ndarray:
        """Return the discounted gains over the ideal of nDCG."""
        gains = batch.gains[:, : self.cutoff].copy()
        for row, case in zip(gains, batch.cases, strict=True):
            rows = vectors_of(case, self.cutoff)
            row[: len(rows)] *= self.alpha + (1 - self.alpha) * novelty(rows)
        discount = 1 / np.log2(np.arange(gains.shape[1]) + 2)
        return ratio(gains @ discount, np.array([self._ideal(list(grades.values())) for grades in batch.grades]))

    def _ideal(self, grades: list[float]) -> float:
        best = np.sort(np.maximum(np.asarray(grades, dtype=float), 0))[::-1][: self.cutoff]
        return float(best @ (1 / np.log2(np.arange(len(best)) + 2)))


def novelty(rows: np.ndarray) -> np.ndarray:
    """Return 1 for the first row, and for each other 1 minus its greatest cosine to a row before it."""
    if len(rows) == 0:
        return np.zeros(0)
    earlier = np.tril(np.ones((len(rows), len(rows)), dtype=bool), k=-1)
    nearest = np.where(earlier, rows @ rows.T, -np.inf).max(axis=1)
    nearest[0] = 0.0
    fresh: np.ndarray = 1 - nearest
    return fresh
