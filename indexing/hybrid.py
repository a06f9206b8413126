"""Dense and lexical search together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.bm25 import BM25, WordSearch
from indexing.composed import Composed, ExactSearch
from indexing.dense import VectorSearch
from indexing.exact import VectorsOf
from indexing.found import Found, table
from indexing.ties import best_places
from indexing.types import Hit


@dataclass(frozen=True, kw_only=True)
class Hybrid(Composed):
    """Fuses the runs of `dense` and `bm25`: by reciprocal rank (Cormack et al. 2009), or by weighted scores."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = True

    fusion: Literal["rrf", "weighted"] = "rrf"
    k: int = 60
    """The constant that reciprocal-rank fusion adds to a rank: the larger, the flatter."""
    weight: float = 0.5
    """The share of `dense`; the rest is `bm25`'s."""
    pool: int = 100
    """Minimum number of hits of each that are fused."""
    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        positive(self, "k", "pool")
        if not 0 <= self.weight <= 1:
            raise UsageError(f"weight must be between 0 and 1, not {self.weight}")
        BM25(k1=self.k1, b=self.b)

    @property
    def searches(self) -> tuple[ExactSearch, ...]:
        """Vector search and word search."""
        return VectorSearch(), WordSearch(k1=self.k1, b=self.b)

    def reach(self, depth: int) -> int:
        """Return how many hits of each are fused."""
        return max(depth, self.pool)

    def combine(self, found: Sequence[Found], vectors_of: VectorsOf, *, depth: int) -> Found:  # noqa: ARG002 - as every retriever
        """Return the depth best chunks of both runs together; equal scores by position."""
        value = self._by_rank if self.fusion == "rrf" else self._by_score
        fused = [
            _fused([(self.weight, value(one)), (1 - self.weight, value(other))], depth=depth)
            for one, other in zip(*(each.hits() for each in found), strict=True)
        ]
        return table(fused, depth=depth, dtype=np.float64)

    def _by_rank(self, run: Sequence[Hit]) -> dict[int, float]:
        return {hit.position: 1 / (self.k + rank) for rank, hit in enumerate(run, start=1)}

    @staticmethod
    def _by_score(run: Sequence[Hit]) -> dict[int, float]:
        """Scale the scores of a run from 0 for the last to 1 for the first."""
        if not run:
            return {}
        high, low = run[0].score, run[-1].score
        return {hit.position: (hit.score - low) / (high - low) if high > low else 1.0 for hit in run}


def _fused(parts: Sequence[tuple[float, dict[int, float]]], *, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the best positions of both parts together, and their scores."""
    totals: dict[int, float] = {}
    for weight, values in parts:
        for position, value in values.items():
            totals[position] = totals.get(position, 0.0) + weight * value
    positions = np.fromiter(totals, dtype=np.int64, count=len(totals))
    scores = np.fromiter(totals.values(), dtype=np.float64, count=len(totals))
    order = best_places(scores, positions, depth=depth)
    return positions[order], scores[order]
