"""How often the chunker split a gold region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.budget_recall import ratio
from evaluation.measures.measure import Direction, Measure, Need, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class SplitRate(Share, Measure):
    """Share of the gold regions that no single chunk holds whole, ignoring whitespace at the edges."""

    label: ClassVar[str] = "split_rate"
    pattern: ClassVar[str] = "split_rate"
    definition: ClassVar[str] = "share of the gold regions that no chunk holds whole; no retriever needed"
    template: ClassVar[str] = "share of the places that answer that no chunk holds whole"
    citation: ClassVar[str] = "this project"
    needs: ClassVar[frozenset[Need]] = frozenset({"text", "chunks"})
    comparable: ClassVar[bool] = True
    direction: ClassVar[Direction] = "lower"
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename".split())

    @property
    def units(self) -> frozenset[SizeUnit]:
        """Non-whitespace characters."""
        return frozenset({"nws"})

    def score(self, batch: Batch) -> np.ndarray:
        """Return split regions over regions; one of only whitespace is not counted."""
        layout = batch.all_chunks("nws").layout
        chunks, gold = layout.results, layout.gold
        real = gold.last > gold.first
        # Of the chunks that begin at or before the region in its own case, does any reach its end? The furthest
        # reach so far answers for all of them, and places of other cases and files are entirely before or after.
        order = np.argsort(chunks.first, kind="stable")
        reach = np.maximum.accumulate(np.concatenate(([0], chunks.last[order])))
        whole = reach[np.searchsorted(chunks.first[order], gold.first, side="right")] >= gold.last
        count = np.bincount(gold.case, weights=real, minlength=len(batch))
        return ratio(np.bincount(gold.case, weights=real & ~whole, minlength=len(batch)), count)
