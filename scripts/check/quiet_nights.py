"""Simulated nights in which nothing truly changed: how often does the gate report a change?"""

from __future__ import annotations

import numpy as np

from evaluation.config import make_config
from evaluation.experiment.environment import environment
from evaluation.history.gate import Limits, gate_findings
from evaluation.history.origins import Match
from evaluation.results.types import CellRecord, QueryRecord, Results
from evaluation.types import CellKey

_MEASURES = ("naurc@4000tok", "ndcg@10")
_CHUNKERS = ("a", "b", "c", "d")


def false_alarms(nights: int, *, alpha: float, repositories: int, queries: int = 80, seed: int = 0) -> int:
    """Return the number of nights with any verdict but "no change", without a minimum effect."""
    rng = np.random.default_rng(seed)
    limits = Limits(alpha=alpha, minimum_effect=0.0, flips=2000, seed=seed)
    count = 0
    for _ in range(nights):
        difficulty = rng.beta(2, 2, queries)
        before, now = (_night(rng, difficulty, repositories) for _ in range(2))
        matches = {cell.key: Match(cell.key, ()) for cell in now.cells}
        found = gate_findings(now, before, matches=matches, measures=_MEASURES, limits=limits)
        count += any(finding.verdict != "no change" for finding in found)
    return count


def _night(rng: np.random.Generator, difficulty: np.ndarray, repositories: int) -> Results:
    """Return scores that vary around the same truth: by repository, by query, and by chunker and measure.

    The variation of a repository is shared by its queries, and that of a query by all chunkers and both measures.
    """
    queries = len(difficulty)
    homes = np.arange(queries) % repositories
    asked = tuple(
        QueryRecord("simulated", f"q{k}", "", f"r{homes[k]}", f"r{homes[k]}", None, ()) for k in range(queries)
    )
    # With few repositories the queries are the units, and the guarantee holds for independent ones.
    shared = rng.normal(0, 0.05, repositories)[homes] if repositories >= 6 else np.zeros(queries)
    of_query = rng.normal(0, 0.1, queries)
    cells = []
    for chunker in _CHUNKERS:
        drawn = {name: difficulty + shared + of_query + rng.normal(0, 0.1, queries) for name in _MEASURES}
        scores = {name: np.clip(values, 0, 1) for name, values in drawn.items()}
        cells.append(CellRecord(CellKey("simulated", chunker, "e", "r"), "ok", scores=scores))
    return Results(config=make_config({}), environment=environment(), datasets=(), cells=tuple(cells), queries=asked)
