"""Intra-list diversity of the retrieved embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.measure import Need, RankedMeasure
from evaluation.types import Case

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


_LENGTH_TOLERANCE = 1e-2
"""Half precision preserves a length of 1 to about a thousandth."""


def vectors_of(case: Case, cutoff: int | None) -> np.ndarray:
    """Return the vectors of the first results; raise unless each has length 1, as cosines are products."""
    if case.vectors is None or len(case.vectors) < len(case.ranking[:cutoff]):
        raise UsageError(f"query {case.query_id!r} comes without a vector for each result")
    rows = np.asarray(case.vectors[: len(case.ranking)][:cutoff], dtype=float)
    lengths = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~(np.abs(lengths - 1) <= _LENGTH_TOLERANCE))
    if len(wrong):
        row = int(wrong[0])
        raise UsageError(
            f"query {case.query_id!r}: the vector of {case.ranking[row]!r} has length {lengths[row]:.4g}, not 1: "
            "divide each vector by its length"
        )
    return rows


@dataclass(frozen=True, kw_only=True)
class Ild(RankedMeasure):
    """Mean cosine distance of the pairs among the first k results, not clipped."""

    label: ClassVar[str] = "ild"
    pattern: ClassVar[str] = "ild@k"
    definition: ClassVar[str] = "mean of 1 - cosine over all pairs of the first k results; undefined below two results"
    template: ClassVar[str] = "how different {top} are from each other"
    citation: ClassVar[str] = "Smyth and McClave 2001, Similarity vs. diversity; Ziegler et al. 2005"
    needs: ClassVar[frozenset[Need]] = frozenset({"vectors"})
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return the mean distance of each case."""
        return batch.each(self._one)

    def _one(self, case: Case) -> float:
        rows = vectors_of(case, self.cutoff)
        n = len(rows)
        if n < 2:
            return float("nan")
        # The sum of all cosines is the squared length of the sum of the rows.
        cosines = (np.square(rows.sum(axis=0)).sum() - np.square(rows).sum()) / (n * (n - 1))
        return float(1 - cosines)
