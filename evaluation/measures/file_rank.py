"""Rankings of files: each file at its first chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.measure import Measure, Need, RankedMeasure, Share
from evaluation.types import TextCase

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class FileRecall(Share, RankedMeasure):
    """Share of the files with gold that are among the first k files."""

    label: ClassVar[str] = "file_recall"
    pattern: ClassVar[str] = "file_recall@k"
    template: ClassVar[str] = "of the files that answer, the share among the first {cutoff} files"
    definition: ClassVar[str] = (
        "files with gold among the first k files, in the order of their first chunks, over all of them"
    )
    citation: ClassVar[str] = "fault localisation, e.g. Jimenez et al. 2024 (SWE-bench); files by first occurrence"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    comparable: ClassVar[bool] = True
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone stable split duplicate".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return the share of each case; 0 without gold."""
        return np.array([self._one(*pair) for pair in zip(batch.texts, batch.files, strict=True)])

    def _one(self, text: TextCase, files: list[int]) -> float:
        gold = {span.file for span in text.gold}
        return len(gold.intersection(files[: self.cutoff])) / len(gold) if gold else 0.0


@dataclass(frozen=True, kw_only=True)
class FileRr(Share, Measure):
    """One over the rank of the first file with gold, among files."""

    label: ClassVar[str] = "file_rr"
    pattern: ClassVar[str] = "file_rr"
    template: ClassVar[str] = "one over the rank of the first file that answers"
    definition: ClassVar[str] = (
        "1/rank of the first file with gold, files ranked by their first chunks; 0 if there is none"
    )
    citation: ClassVar[str] = "Voorhees 1999 on files; files by first occurrence"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    comparable: ClassVar[bool] = True
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable split duplicate".split()
    )

    def score(self, batch: Batch) -> np.ndarray:
        """Return the reciprocal rank of each case."""
        return np.array([self._one(*pair) for pair in zip(batch.texts, batch.files, strict=True)])

    def _one(self, text: TextCase, files: list[int]) -> float:
        gold = {span.file for span in text.gold}
        return next((1 / rank for rank, file in enumerate(files, start=1) if file in gold), 0.0)
