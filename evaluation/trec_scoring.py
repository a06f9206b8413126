"""Scores of a TREC run file against a qrels file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chunkers.errors import UsageError
from evaluation.measures import Measure, Summary, aggregate, evaluate, parse_measure, uncovered
from evaluation.trec import read_qrels, read_run
from evaluation.types import Case


@dataclass(frozen=True)
class RunScores:
    """Scores under the names that were asked for, and the queries that need a remark."""

    canonical: dict[str, str]
    """asked name → canonical name."""
    per_query: dict[str, dict[str, float]]
    summary: dict[str, Summary]
    missing: list[str]
    """Judged queries that the run lacks: they score 0."""
    unjudged: list[str]
    """Queries of the run without judgements: they are left out."""
    uncovered: list[str]
    """Judged queries to which nothing is relevant: they score 0."""


def score_files(qrels_path: Path, run_path: Path, names: Sequence[str]) -> RunScores:
    """Return the scores of every judged query; a query that the run lacks counts as an empty ranking."""
    measures = {name.strip(): _ranked(name) for name in names}
    qrels, run = read_qrels(qrels_path), read_run(run_path)
    cases = [Case(query, run.get(query, []), grades) for query, grades in qrels.items()]
    nothing = uncovered(cases)
    scores = evaluate(list(dict.fromkeys(measures.values())), cases)
    per_query = {
        query: {name: row[measure.name] for name, measure in measures.items()} for query, row in scores.items()
    }
    return RunScores(
        canonical={name: measure.name for name, measure in measures.items()},
        per_query=per_query,
        summary=aggregate(per_query, uncovered=nothing),
        missing=[query for query in qrels if query not in run],
        unjudged=[query for query in run if query not in qrels],
        uncovered=nothing,
    )


def _ranked(name: str) -> Measure:
    measure = parse_measure(name)
    if missing := sorted(measure.needs - {"grades"}):
        raise UsageError(
            f"measure {name!r} needs {' and '.join(missing)}, which TREC files do not hold: choose one on ids, such as "
            "ndcg@10"
        )
    return measure
