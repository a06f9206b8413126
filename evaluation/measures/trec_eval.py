"""The only adapter to trec_eval: integer grades, scores derived from ranks, zeros for what the engine leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import gcd

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.measure import relevance
from evaluation.types import Case

SCALE = 1_000_000
"""Fractional grades become integers at this scale; nDCG does not depend on it."""

_LARGEST = 10_000_000
"""trec_eval allocates a table as long as the largest grade: 80 MB at this one."""

Gains = Mapping[str, float]


def run_of(ranking: Sequence[str], grades: Gains) -> dict[str, int]:
    """Return the ranking up to its last judged result, as scores that fall with the rank.

    trec_eval compares float32, and ids on ties. No measure that it computes here depends on what follows.
    """
    judged = next((rank for rank in range(len(ranking), 0, -1) if ranking[rank - 1] in grades), 0)
    return dict(zip(ranking[:judged], range(judged, 0, -1), strict=True))


def check_once(case: Case) -> None:
    """Raise if the ranking names a chunk twice."""
    if len(set(case.ranking)) != len(case.ranking):
        twice = next(item for i, item in enumerate(case.ranking) if item in case.ranking[:i])
        raise UsageError(f"query {case.query_id!r} ranks {twice!r} twice: a ranking names each chunk once")


def integer_gains(gains: Gains) -> Mapping[str, int]:
    """Return the gains as the smallest integers in the same proportions; below 0 counts as 0."""
    values = gains.values()
    if set(map(type, values)) <= {int} and (not gains or (min(values) >= 0 and max(values) <= 1000)):
        return gains  # type: ignore[return-value]  # checked above
    # A gain above 0 stays above 0, so that "relevant" and "has a gain" remain equivalent.
    scaled = {key: max(1, round(float(value) * SCALE)) if value > 0 else 0 for key, value in gains.items()}
    # The table again: small numbers are much faster.
    common = max(1, gcd(*scaled.values()))
    excess = max(scaled.values()) / common / _LARGEST
    if excess > 1:  # the least gain that counts is a ten-millionth of the highest grade
        return {key: max(1, round(value / common / excess)) if value else 0 for key, value in scaled.items()}
    return {key: value // common for key, value in scaled.items()}


def binary_gains(gains: Gains, rel: str) -> dict[str, int]:
    """Return 1 for each grade that passes the threshold, else 0."""
    passes = relevance(rel)
    return {key: int(passes(value)) for key, value in gains.items()}


def trec_scores(
    query_ids: Sequence[str],
    runs: Mapping[str, Mapping[str, int]],
    qrels: Mapping[str, Mapping[str, int]],
    names: Collection[str],
) -> dict[str, np.ndarray]:
    """Return, for each trec_eval name such as ``ndcg_cut_5``, one value per query; a query without results has 0."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(runs)
    rows = [found.get(query_id) for query_id in query_ids]
    return {name: np.array([row[name] if row else 0.0 for row in rows]) for name in names}
