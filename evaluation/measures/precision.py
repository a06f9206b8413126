"""Precision of the first k results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.measures.trec_measure import TrecBinary


@dataclass(frozen=True, kw_only=True)
class Precision(TrecBinary):
    """Relevant results among the first k, divided by k even if fewer were returned."""

    label: ClassVar[str] = "precision"
    pattern: ClassVar[str] = "precision@k"
    definition: ClassVar[str] = "relevant results among the first k, divided by k"
    template: ClassVar[str] = "of {top}, the share that is relevant"
    citation: ClassVar[str] = "trec_eval P_k; Manning, Raghavan and Schütze 2008, ch. 8"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename monotone stable engine".split())
    needs_cutoff: ClassVar[bool] = True

    @property
    def trec_name(self) -> str:
        """``P_k``."""
        return f"P_{self.cutoff}"
