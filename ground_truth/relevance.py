"""What makes a chunk relevant, in order of priority, with a record of what decided each query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from chunkers.errors import UsageError
from ground_truth.token_f1 import THRESHOLD, token_f1
from ground_truth.types import Qrels, Query

Strategy = Literal["qrels", "pack", "token-fallback"]
STRATEGIES: tuple[Strategy, ...] = ("qrels", "pack", "token-fallback")


class Text(NamedTuple):
    """A chunk as far as relevance by text needs it."""

    id: str
    text: str


Pack = Callable[[Query, Text], bool | None]
"""A dataset's own relevance: True or False, or None for a query that it says nothing about."""


@dataclass(frozen=True)
class Relevance:
    """Qrels made by one or more strategies; a query that none could judge is unlabelled, not empty."""

    qrels: Mapping[str, Mapping[str, int]]
    strategy: Mapping[str, Strategy]
    unlabelled: tuple[str, ...]
    threshold: float

    def details(self) -> dict[str, Any]:
        """Return what the results say about it, in the words of memorybench."""
        counts = Counter(self.strategy.values())
        used = [name for name in STRATEGIES if counts[name]]
        return {
            "strategyUsed": used[0] if len(used) == 1 else "mixed" if used else "none",
            "strategyCounts": {name: counts[name] for name in STRATEGIES},
            "queriesWithRelevant": sum(1 for grades in self.qrels.values() if grades),
            "unlabelled": len(self.unlabelled),
            "total": len(self.strategy) + len(self.unlabelled),
            "f1Threshold": self.threshold,
        }


def decide(
    queries: Sequence[Query],
    chunks: Sequence[Text],
    *,
    qrels: Qrels | None = None,
    pack: Pack | None = None,
    token_fallback: bool = False,
    mixed: bool = False,
    threshold: float = THRESHOLD,
) -> Relevance:
    """Return each query's relevant chunks by the first strategy that knows it: qrels, the pack, token F1.

    A query in the qrels with an empty mapping is labelled and has nothing relevant. ``token_fallback`` must be asked
    for, because it depends on the size of chunks; ``mixed`` too, because such scores do not compare.
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"the token F1 threshold must be above 0 and at most 1, not {threshold}")
    found: dict[str, Mapping[str, int]] = {}
    strategy: dict[str, Strategy] = {}
    for query in queries:
        judged = _judge(query, chunks, qrels, pack, threshold if token_fallback else None)
        if judged is not None:
            strategy[query.id], found[query.id] = judged
    used = {name for name in STRATEGIES if name in strategy.values()}
    if len(used) > 1 and not mixed:
        raise UsageError(
            f"relevance would mix {' and '.join(sorted(used))}, whose scores do not compare: "
            "label all queries one way, or ask for mixed"
        )
    unlabelled = tuple(query.id for query in queries if query.id not in strategy)
    return Relevance(found, strategy, unlabelled, threshold)


def _judge(
    query: Query, chunks: Sequence[Text], qrels: Qrels | None, pack: Pack | None, threshold: float | None
) -> tuple[Strategy, Mapping[str, int]] | None:
    """Return the strategy and the relevant chunks, or None where no strategy knows the query."""
    if qrels is not None and query.id in qrels:
        return "qrels", qrels[query.id]
    if pack is not None:
        verdicts = {chunk.id: pack(query, chunk) for chunk in chunks}
        if any(verdict is not None for verdict in verdicts.values()):
            return "pack", {name: 1 for name, verdict in verdicts.items() if verdict}
    if threshold is not None and query.expected is not None:
        hits = (chunk.id for chunk in chunks if token_f1(query.expected, chunk.text) >= threshold)
        return "token-fallback", dict.fromkeys(hits, 1)
    return None
