"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.measures.trec_measure import TrecBinary


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(TrecBinary):
    """Sum of the precisions at the relevant results among the first k, over all relevant chunks."""

    label: ClassVar[str] = "map"
    pattern: ClassVar[str] = "map@k"
    definition: ClassVar[str] = (
        "sum of precision at each relevant result among the first k, divided by all relevant chunks"
    )
    template: ClassVar[str] = "precision at each relevant result among {top}, averaged over all relevant chunks"
    citation: ClassVar[str] = "trec_eval map_cut_k; Buckley and Voorhees 2000, Evaluating evaluation measure stability"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable engine".split()
    )

    @property
    def trec_name(self) -> str:
        """``map_cut_k``, or ``map`` over all results."""
        return "map" if self.cutoff is None else f"map_cut_{self.cutoff}"
