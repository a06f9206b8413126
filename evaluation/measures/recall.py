"""Recall of the first k results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.measures.trec_measure import TrecBinary


@dataclass(frozen=True, kw_only=True)
class Recall(TrecBinary):
    """Share of the relevant chunks that are among the first k."""

    label: ClassVar[str] = "recall"
    pattern: ClassVar[str] = "recall@k"
    definition: ClassVar[str] = "relevant results among the first k, divided by all relevant chunks"
    template: ClassVar[str] = "of the relevant chunks, the share among {top}"
    citation: ClassVar[str] = "trec_eval recall_k; Manning, Raghavan and Schütze 2008, ch. 8"
    properties: ClassVar[frozenset[str]] = frozenset("bounded perfect empty rename monotone stable engine".split())

    @property
    def trec_name(self) -> str:
        """``recall_k``, or ``set_recall`` over all results."""
        return "set_recall" if self.cutoff is None else f"recall_{self.cutoff}"
