"""Chroma's measures of the text of the first k results, with half-open spans, in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.measures.budget_recall import ratio
from evaluation.measures.measure import Measure, Need, RankedMeasure, Share
from evaluation.measures.reading import Top

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


_CITATION = "Smith and Troynikov 2024, Evaluating chunking strategies for retrieval (Chroma); half-open here"


@dataclass(frozen=True, kw_only=True)
class ChromaMeasure(Share, RankedMeasure):
    """A measure of the bytes of the first k results; a chunk that only touches the gold shares nothing with it."""

    citation: ClassVar[str] = _CITATION
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})

    def top(self, batch: Batch) -> Top:
        """Return the gold, sent and repeated bytes of the first k results."""
        return batch.reading(None).top(self.cutoff)


@dataclass(frozen=True, kw_only=True)
class ChromaRecall(ChromaMeasure):
    """Share of the gold bytes that the first k results show."""

    label: ClassVar[str] = "chroma_recall"
    pattern: ClassVar[str] = "chroma_recall@k"
    template: ClassVar[str] = "of the bytes that answer, the share in {top}"
    definition: ClassVar[str] = "gold bytes in the first k results, over all gold bytes"
    properties: ClassVar[frozenset[str]] = frozenset("bounded perfect empty rename monotone stable".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return gold shown over gold."""
        return ratio(self.top(batch).gold, batch.reading(None).total)


@dataclass(frozen=True, kw_only=True)
class ChromaPrecision(ChromaMeasure):
    """Share of the bytes of the first k results that are gold; a repetition counts in the denominator only."""

    label: ClassVar[str] = "chroma_precision"
    pattern: ClassVar[str] = "chroma_precision@k"
    template: ClassVar[str] = "of the bytes of {top}, the share that answers"
    definition: ClassVar[str] = "gold bytes in the first k results, counted once, over all bytes of these results"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return gold shown over bytes sent."""
        top = self.top(batch)
        return ratio(top.gold, top.sent)


@dataclass(frozen=True, kw_only=True)
class ChromaIou(ChromaMeasure):
    """Gold shown, over the bytes sent plus the gold missed."""

    label: ClassVar[str] = "chroma_iou"
    pattern: ClassVar[str] = "chroma_iou@k"
    template: ClassVar[str] = "overlap of the bytes of {top} with those that answer"
    definition: ClassVar[str] = "gold bytes in the first k results, over all their bytes plus the gold they miss"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return gold shown over bytes sent plus gold missed."""
        top = self.top(batch)
        return ratio(top.gold, top.sent + batch.reading(None).total - top.gold)


@dataclass(frozen=True, kw_only=True)
class PrecisionOmega(Share, Measure):
    """The best precision that this chunking allows: that of all chunks that share a byte with the gold."""

    label: ClassVar[str] = "precision_omega"
    pattern: ClassVar[str] = "precision_omega"
    template: ClassVar[str] = "of the bytes of all chunks that touch the answer, the share that answers"
    definition: ClassVar[str] = (
        "gold bytes over all bytes of the chunks that share any with the gold; no retriever needed"
    )
    citation: ClassVar[str] = _CITATION
    needs: ClassVar[frozenset[Need]] = frozenset({"text", "chunks"})
    comparable: ClassVar[bool] = True
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return gold over the bytes of every chunk that holds some of it."""
        reading = batch.all_chunks(None)
        holds = reading.result_gold > 0
        case = reading.layout.results.case
        gold = reading.free.gold
        return ratio(
            reading.per_case(gold.case, gold.length), reading.per_case(case, np.where(holds, reading.result_sizes, 0))
        )
