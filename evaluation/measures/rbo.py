"""Rank-biased overlap of two top-k lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.measure import Need, RankedMeasure, Share
from evaluation.types import Case

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


def rbo(left: Sequence[str], right: Sequence[str], *, p: float = 0.9) -> float:
    """Return the extrapolated overlap of two lists that need not hold the same items; NaN if both are empty."""
    short, long = sorted((left, right), key=len)
    s, n = len(short), len(long)
    if n == 0:
        return float("nan")
    if s == 0:
        return 0.0
    overlap = _overlaps(short, long)
    depth = np.arange(1, n + 1)
    weight = p**depth
    agreed = (overlap / depth) @ weight
    beyond = depth[s:]
    extended = (overlap[s - 1] * (beyond - s) / (s * beyond)) @ weight[s:]
    tail = (overlap[-1] - overlap[s - 1]) / n + overlap[s - 1] / s
    return float((1 - p) / p * (agreed + extended) + tail * weight[-1])


def _overlaps(short: Sequence[str], long: Sequence[str]) -> np.ndarray:
    """Return the number of shared items among the first d, for each d up to the longer list's length."""
    place = {item: rank for rank, item in enumerate(short)}
    meets = [max(rank, place[item]) for rank, item in enumerate(long) if item in place]
    return np.cumsum(np.bincount(np.array(meets, dtype=np.int64), minlength=len(long)))


@dataclass(frozen=True, kw_only=True)
class Rbo(Share, RankedMeasure):
    """Overlap with the reference at every depth, weighted to the top; for lists of different items."""

    p: float = 0.9
    label: ClassVar[str] = "rbo"
    pattern: ClassVar[str] = "rbo@k(p=0.9)"
    definition: ClassVar[str] = "extrapolated rank-biased overlap with a reference ranking, persistence p"
    template: ClassVar[str] = "agreement of {top} with a reference ranking, the top counting most"
    citation: ClassVar[str] = "Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, eq. 32"
    needs: ClassVar[frozenset[Need]] = frozenset({"reference"})
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename ioi_graded symmetric top_heavy type2_items".split()
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p < 1:
            raise UsageError(f"p of rbo must lie between 0 and 1, not {self.p:g}")

    def score(self, batch: Batch) -> np.ndarray:
        """Return the overlap of each case's ranking with its reference."""
        return batch.each(self._one)

    def _one(self, case: Case) -> float:
        if case.reference is None:
            raise UsageError(f"query {case.query_id!r} has no reference ranking, which {self.name} needs")
        return rbo(case.ranking[: self.cutoff], case.reference[: self.cutoff], p=self.p)
