"""Puts the scores of several chunkers on one grid, and refuses when they did not answer the same queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chunkers.errors import UsageError


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """[chunkers × queries], with the names of both sides and the repository of each query."""

    names: Sequence[str]
    query_ids: Sequence[str]
    clusters: Sequence[str]
    values: np.ndarray


def score_matrix(scores: Mapping[str, Mapping[str, float]], clusters: Mapping[str, str]) -> ScoreMatrix:
    """Build the matrix of name → query id → value; every name must have exactly the same queries."""
    if not scores:
        raise UsageError("there are no scores to compare")
    names = list(scores)
    query_ids = sorted(scores[names[0]])
    for name in names[1:]:
        if odd := sorted(set(query_ids) ^ set(scores[name])):
            raise UsageError(
                f"{names[0]} and {name} were not scored on the same queries: {odd[0]!r} and {len(odd) - 1} others are "
                "in one only; run both on the same dataset"
            )
    if unknown := [query for query in query_ids if query not in clusters]:
        raise UsageError(f"query {unknown[0]!r} has scores but no repository; is queries.parquet of the same run?")
    values = np.array([[scores[name][query] for query in query_ids] for name in names], dtype=np.float64)
    return ScoreMatrix(names, query_ids, [clusters[query] for query in query_ids], values)
