"""nDCG with linear gain and the ideal of the full judgements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.measures.trec_measure import TrecBinary


@dataclass(frozen=True, kw_only=True)
class Ndcg(TrecBinary):
    """Discounted gain of the first k over that of the best possible k; with ``rel``, gains are 0 and 1."""

    label: ClassVar[str] = "ndcg"
    pattern: ClassVar[str] = "ndcg@k"
    definition: ClassVar[str] = (
        "sum of grade/log2(rank+1) over the first k results, divided by the same sum for the best ranking of all "
        "judged chunks"
    )
    template: ClassVar[str] = "how well {top} are ordered, against the best possible order of all relevant chunks"
    citation: ClassVar[str] = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone top_heavy stable engine ioi_graded".split()
    )

    @property
    def trec_name(self) -> str:
        """``ndcg_cut_k``, or ``ndcg`` over all results."""
        return "ndcg" if self.cutoff is None else f"ndcg_cut_{self.cutoff}"
