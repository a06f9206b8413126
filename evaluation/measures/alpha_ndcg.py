"""alpha-nDCG: each further result about the same gold region is worth less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.measure import Need, RankedMeasure, Share
from evaluation.types import Case

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class AlphaNdcg(Share, RankedMeasure):
    """Discounted gain of gold regions, each worth (1 - alpha)^n if n results showed it before."""

    alpha: float = 0.5
    label: ClassVar[str] = "alpha_ndcg"
    pattern: ClassVar[str] = "alpha_ndcg@k(alpha=0.5)"
    definition: ClassVar[str] = (
        "sum of (1-alpha)^(times seen) over the regions of each result, discounted by log2(rank+1), over that of the "
        "greedy ideal ranking of all judged chunks"
    )
    template: ClassVar[str] = "how well {top} show the parts of the answer, a repeated part counting less"
    citation: ClassVar[str] = "Clarke et al. 2008, Novelty and diversity in information retrieval evaluation; ndeval"
    needs: ClassVar[frozenset[Need]] = frozenset({"nuggets"})
    # The greedy ideal is not always the best ranking, so 1 can be exceeded slightly, in ndeval too.
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    properties: ClassVar[frozenset[str]] = frozenset("perfect empty rename top_heavy stable".split())

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise UsageError(f"alpha of alpha_ndcg must be from 0 to 1, not {self.alpha:g}")

    def score(self, batch: Batch) -> np.ndarray:
        """Return the ratio of each case."""
        return batch.each(self._one)

    def _one(self, case: Case) -> float:
        if case.nuggets is None:
            raise UsageError(f"query {case.query_id!r} comes without the gold regions of its chunks")
        gains = _gains([case.nuggets.get(item, frozenset()) for item in case.ranking[: self.cutoff]], self.alpha)
        best = _ideal_gains(case.nuggets, self.cutoff, self.alpha)
        ideal = _dcg(best)
        return _dcg(gains) / ideal if ideal > 0 else 0.0


def _gains(shown: Sequence[frozenset[int]], alpha: float) -> list[float]:
    worth: dict[int, float] = {}
    gains = []
    for regions in shown:
        gains.append(sum(worth.get(region, 1.0) for region in regions))
        worth.update((region, worth.get(region, 1.0) * (1 - alpha)) for region in regions)
    return gains


def _ideal_gains(nuggets: Mapping[str, frozenset[int]], cutoff: int | None, alpha: float) -> list[float]:
    """Return the gains of the ranking that takes the best next chunk at each step.

    Ties are broken by the regions that a chunk shows, never by its id, so renaming changes nothing.
    """
    chunks = sorted(sorted(regions) for regions in nuggets.values() if regions)
    regions = sorted({region for chunk in chunks for region in chunk})
    shows = np.array([[region in chunk for region in regions] for chunk in map(set, chunks)], dtype=float)
    worth, left = np.ones(len(regions)), np.ones(len(chunks), dtype=bool)
    gains = []
    for _ in range(min(len(chunks), len(chunks) if cutoff is None else cutoff)):
        gain = np.where(left, shows @ worth, -1.0)
        best = int(gain.argmax())
        gains.append(float(gain[best]))
        left[best] = False
        worth = worth * np.where(shows[best] > 0, 1 - alpha, 1.0)
    return gains


def _dcg(gains: Sequence[float]) -> float:
    return float(np.asarray(gains) @ (1 / np.log2(np.arange(len(gains)) + 2))) if gains else 0.0
