"""Scores of a TREC run file against a qrels file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chunkers.errors import UsageError
from evaluation.measures import Measure, Summary, aggregate, evaluate, parse_measure, uncovered
from evaluation.measures.own import declared_well
from evaluation.trec import read_qrels, read_run
from evaluation.types import Case


@dataclass(frozen=True)
class RunScores:
    """Scores under the requested names, and the queries worth a remark."""

    canonical: dict[str, str]
    """requested name → canonical name."""
    per_query: dict[str, dict[str, float]]
    summary: dict[str, Summary]
    missing: list[str]
    """Judged queries missing from the run: they score 0."""
    unjudged: list[str]
    """Queries of the run without judgements: they are ignored."""
    uncovered: list[str]
    """Judged queries without anything relevant: they score 0."""


def score_files(
    qrels_path: Path,
    run_path: Path,
    names: Sequence[str],
    *,
    reference_path: Path | None = None,
    limit: int | None = None,
) -> RunScores:
    """Return the scores of every judged query; a query missing from the run counts as an empty ranking.

    ``reference_path`` is a run to correlate with, for Kendall's tau and RBO. ``limit`` keeps the first judged queries.
    """
    measures = {name.strip(): _measure(name, has_reference=reference_path is not None) for name in names}
    qrels, run = read_qrels(qrels_path), read_run(run_path)
    reference = None if reference_path is None else read_run(reference_path)
    judged = dict(islice(qrels.items(), limit))
    if reference is not None and (absent := [query for query in judged if query not in reference]):
        raise UsageError(
            f"{reference_path}: has no ranking for query {absent[0]!r}: a reference ranks every judged query"
        )
    cases = [
        Case(query, run.get(query, []), grades, reference=None if reference is None else reference[query])
        for query, grades in judged.items()
    ]
    nothing = uncovered(cases)
    scores = evaluate(list(dict.fromkeys(measures.values())), cases)
    per_query = {
        query: {name: row[measure.name] for name, measure in measures.items()} for query, row in scores.items()
    }
    return RunScores(
        canonical={name: measure.name for name, measure in measures.items()},
        per_query=per_query,
        summary=aggregate(per_query, uncovered=nothing),
        missing=[query for query in judged if query not in run],
        unjudged=[query for query in run if query not in qrels],
        uncovered=nothing,
    )


def _measure(name: str, *, has_reference: bool) -> Measure:
    measure = declared_well(parse_measure(name))
    missing = sorted(measure.needs - {"grades", "reference"})
    if missing:
        raise UsageError(
            f"measure {name!r} needs {' and '.join(missing)}, which TREC files do not hold: choose one on ids, such as "
            "ndcg@10"
        )
    if "reference" in measure.needs and not has_reference:
        raise UsageError(f"measure {name!r} needs a reference ranking: name one with --reference RUN")
    return measure
