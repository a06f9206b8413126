"""Ranked measures written literally from their definitions: the audit's second engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2

Plain = Callable[[Sequence[str], Mapping[str, float], int], float]
"""(ranking, grades, cutoff) → value."""


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 2) for rank, gain in enumerate(gains))


def _ndcg(ranking: Sequence[str], grades: Mapping[str, float], k: int, gain: Callable[[float], float]) -> float:
    best = sorted((gain(grade) for grade in grades.values()), reverse=True)[:k]
    return _dcg([gain(grades.get(item, 0)) for item in ranking[:k]]) / _dcg(best)


def _hits(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> list[bool]:
    return [grades.get(item, 0) > 0 for item in ranking[:k]]


def _relevant(grades: Mapping[str, float]) -> int:
    return sum(grade > 0 for grade in grades.values())


def _precision_sum(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    hits = _hits(ranking, grades, k)
    return sum(sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit)


def _rr(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    return next((1 / (rank + 1) for rank, hit in enumerate(_hits(ranking, grades, k)) if hit), 0.0)


PLAIN: dict[str, Plain] = {
    "ndcg": lambda r, g, k: _ndcg(r, g, k, float),
    "ndcg_exp": lambda r, g, k: _ndcg(r, g, k, lambda grade: 2**grade - 1),
    "precision": lambda r, g, k: sum(_hits(r, g, k)) / k,
    "recall": lambda r, g, k: sum(_hits(r, g, k)) / _relevant(g),
    "hit": lambda r, g, k: float(any(_hits(r, g, k))),
    "mrr": _rr,
    "map": lambda r, g, k: _precision_sum(r, g, k) / _relevant(g),
    "ap_capped": lambda r, g, k: _precision_sum(r, g, k) / min(_relevant(g), k),
}
