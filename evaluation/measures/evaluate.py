"""Scores of every query under every measure, and their summary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.batch import Batch
from evaluation.measures.measure import Measure
from evaluation.measures.own import values_of
from evaluation.measures.registry import parse_measure
from evaluation.types import Case, Scores

BATCH = 1000
"""Cases scored together: enough to share the work, few enough to bound memory."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over all queries.

    Mean and median are over the queries for which the measure is defined, unless undefined means "never reached", as in
    tokens_to_recall: then there is no mean, and the median counts those queries as infinite.
    """

    mean: float
    median: float
    n_total: int
    n_scored: int
    n_undefined: int
    n_uncovered: int
    """Queries without a relevant chunk: they score 0."""
    share_scored: float
    """The share of all queries for which the measure is defined: for tokens_to_recall, the share that got there."""


def _as_it_is(measure: Measure, batch: Batch) -> np.ndarray:
    return measure.score(batch)


def evaluate(measures: Sequence[Measure], cases: Iterable[Case]) -> dict[str, dict[str, float]]:
    """Return query id → measure name → value; NaN only where the measure is undefined."""
    scores: dict[str, dict[str, float]] = {}
    names = [measure.name for measure in measures]
    for part in _batches(cases):
        columns = [values.tolist() for values in score_together(measures, part, score=values_of)]
        for case, values in zip(part, zip(*columns, strict=True) if columns else [()] * len(part), strict=True):
            if case.query_id in scores:
                raise UsageError(f"query {case.query_id!r} occurs twice: scores are kept by query id")
            scores[case.query_id] = dict(zip(names, values, strict=True))
    return scores


def score_together(
    measures: Sequence[Measure], cases: Sequence[Case], *, score: Callable[[Measure, Batch], np.ndarray] = _as_it_is
) -> list[np.ndarray]:
    """Return one column per measure; for a case with several answers, the best score over them."""
    batch = Batch(cases, measures)
    if not any(case.answers for case in cases):
        return [score(measure, batch) for measure in measures]
    each = [variants(case) for case in cases]
    spread = Batch([variant for group in each for variant in group], measures)
    begins = np.cumsum([0, *map(len, each[:-1])])
    columns = []
    for measure in measures:
        if measure.whole or measure.direction == "none":
            columns.append(score(measure, batch))
        else:
            better = np.fmin if measure.direction == "lower" else np.fmax
            columns.append(np.asarray(better.reduceat(score(measure, spread), begins)))
    return columns


def best_scores(measure: Measure, cases: Sequence[Case]) -> np.ndarray:
    """Return the measure's value for each case."""
    return score_together([measure], cases)[0]


def variants(case: Case) -> list[Case]:
    """Return one case for each of its answers; a case with one answer is its own variant."""
    if not case.answers:
        return [case]
    return [
        replace(
            case,
            query_id=f"{case.query_id}\x1f{number}",
            grades=answer.grades,
            text=None if case.text is None else replace(case.text, gold=answer.gold),
            nuggets=answer.nuggets,
            answers=(),
        )
        for number, answer in enumerate(case.answers)
    ]


def aggregate(scores: Scores, *, uncovered: Collection[str] = ()) -> dict[str, Summary]:
    """Return the summary of each measure; ``uncovered`` names the queries without anything relevant."""
    names = dict.fromkeys(name for row in scores.values() for name in row)
    n_uncovered = sum(query_id in scores for query_id in uncovered)
    return {name: _summary(parse_measure(name), [row[name] for row in scores.values()], n_uncovered) for name in names}


def uncovered(cases: Iterable[Case]) -> list[str]:
    """Return the labelled queries without a relevant chunk."""
    return [
        case.query_id
        for case in cases
        if case.grades is not None and not any(grade > 0 for grade in case.grades.values())
    ]


def _summary(measure: Measure, values: Sequence[float], n_uncovered: int) -> Summary:
    column = np.asarray(values, dtype=float)
    defined = column[~np.isnan(column)]
    has_mean = len(defined) > 0 and measure.centre == "mean"
    return Summary(
        mean=float(defined.mean()) if has_mean else float("nan"),
        median=median(measure, column),
        n_total=len(column),
        n_scored=len(defined),
        n_undefined=len(column) - len(defined),
        n_uncovered=n_uncovered,
        share_scored=len(defined) / len(column) if len(column) else float("nan"),
    )


def median(measure: Measure, values: np.ndarray) -> float:
    """Return the median; if undefined means "never reached", over all queries, and NaN if half never got there."""
    if measure.centre == "median":
        middle = float(np.median(np.nan_to_num(values, nan=np.inf))) if len(values) else float("nan")
        return middle if np.isfinite(middle) else float("nan")
    defined = values[~np.isnan(values)]
    return float(np.median(defined)) if len(defined) else float("nan")


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    rest = iter(cases)
    while part := list(islice(rest, BATCH)):
        yield part


def column(scores: Mapping[str, Mapping[str, float]], name: str) -> np.ndarray:
    """Return one measure's values in query order."""
    return np.array([row[name] for row in scores.values()], dtype=float)
