"""Is tonight really different? A paired test on the shared queries and a minimum effect, corrected over the family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from evaluation.history.origins import Match
from evaluation.measures.registry import parse_measure
from evaluation.results.types import CellRecord, Results
from evaluation.statistics import MIN_REPOSITORIES, Comparison, compare_pairs
from evaluation.statistics.intervals import weighted_mean
from evaluation.types import CellKey

GateVerdict = Literal["improvement", "regression", "no change", "not comparable"]


@dataclass(frozen=True)
class Limits:
    """When a difference counts."""

    alpha: float = 0.05
    minimum_effect: float = 0.01
    flips: int = 100_000
    seed: int = 0


@dataclass(frozen=True)
class Finding:
    """One chunker and measure, tonight against the baseline; means are over the shared queries."""

    key: CellKey
    measure: str
    verdict: GateVerdict
    reason: str = ""
    """Why there is no comparison."""
    before: float | None = None
    now: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    queries: int = 0
    """Shared queries for which the measure is defined on both nights."""
    unit: str = ""


class QueryCount(NamedTuple):
    """The queries of one dataset on the two nights."""

    shared: int
    appeared: int
    vanished: int


class _Pair(NamedTuple):
    """Scores of the shared queries on both nights."""

    key: CellKey
    measure: str
    now: np.ndarray
    before: np.ndarray
    clusters: Sequence[str]


def count_queries(now: Results, before: Results) -> dict[str, QueryCount]:
    """Return, for each of tonight's datasets, the number of queries on both nights and on only one."""
    found = {}
    for dataset in dict.fromkeys(cell.key.dataset for cell in now.cells):
        new, old = ({query.id for query in night.queries_of(dataset)} for night in (now, before))
        found[dataset] = QueryCount(len(new & old), len(new - old), len(old - new))
    return found


def gate_findings(
    now: Results, before: Results, *, matches: Mapping[CellKey, Match], measures: Sequence[str], limits: Limits
) -> list[Finding]:
    """Return one finding per cell and gated measure; only comparable ones enter the correction."""
    old = {cell.key: cell for cell in before.cells}
    pairs: list[_Pair] = []
    refused: dict[tuple[CellKey, str], str] = {}
    for cell in now.cells:
        match = matches[cell.key]
        for measure in measures:
            if match.before is None or match.reasons:
                refused[cell.key, measure] = "; ".join(match.reasons)
                continue
            pair = _pair(now, before, cell, old[match.before], measure)
            if isinstance(pair, str):
                refused[cell.key, measure] = pair
            else:
                pairs.append(pair)
    judged = {(finding.key, finding.measure): finding for finding in _judged(pairs, limits)}
    return [
        judged.get((cell.key, measure))
        or Finding(cell.key, measure, "not comparable", refused[cell.key, measure] or "unknown")
        for cell in now.cells
        for measure in measures
    ]


def _pair(now: Results, before: Results, new: CellRecord, old: CellRecord, measure: str) -> _Pair | str:
    """Return the shared queries' scores, or why there are none."""
    if measure not in old.scores:
        return f"the baseline did not measure {measure}"
    if parse_measure(measure).direction == "none":
        return f"more {measure} is neither better nor worse"
    asked = now.queries_of(new.key.dataset)
    places = {query.id: place for place, query in enumerate(before.queries_of(old.key.dataset))}
    shared = [(k, places[query.id]) for k, query in enumerate(asked) if query.id in places]
    both = [(a, b) for a, b in shared if not (np.isnan(new.scores[measure][a]) or np.isnan(old.scores[measure][b]))]
    if not both:
        return "no query of the baseline is left"
    return _Pair(
        new.key,
        measure,
        new.scores[measure][[a for a, _ in both]],
        old.scores[measure][[b for _, b in both]],
        [asked[a].cluster for a, _ in both],
    )


def _judged(pairs: Sequence[_Pair], limits: Limits) -> list[Finding]:
    """Judge every pair, corrected for all claims of one night."""
    return [_finding(pair, _compared(pair, limits, family=len(pairs)), limits) for pair in pairs]


def _compared(pair: _Pair, limits: Limits, *, family: int) -> Comparison:
    """Compare the two nights by the procedure for chunkers; few repositories are compared by flips of their queries.

    If nothing changed, the two nights are exchangeable, so flips need no symmetry here, unlike for chunkers.
    """
    measure = parse_measure(pair.measure)
    (found,) = compare_pairs(
        np.array([pair.now, pair.before]),
        pair.clusters,
        names=["now", "before"],
        test="t" if len(set(pair.clusters)) >= MIN_REPOSITORIES else "sign-flip",
        flips=limits.flips,
        seed=limits.seed,
        higher_is_better=measure.direction == "higher",
        value_range=measure.range,
        corrections=family,
    )
    return found


def _finding(pair: _Pair, found: Comparison, limits: Limits) -> Finding:
    before = weighted_mean(pair.before, pair.clusters)
    # A share is compared with the limit itself, a measure in a unit of its own with that fraction of its mean.
    least = limits.minimum_effect * (1.0 if parse_measure(pair.measure).unit == "share" else abs(before))
    verdict: GateVerdict = "no change"
    if found.p <= limits.alpha and abs(found.difference) >= least and found.difference != 0:
        verdict = "improvement" if (found.difference > 0) == found.higher_is_better else "regression"
    return Finding(
        key=pair.key,
        measure=pair.measure,
        verdict=verdict,
        before=before,
        now=weighted_mean(pair.now, pair.clusters),
        difference=found.difference,
        low=_number(found.low),
        high=_number(found.high),
        p=found.p_alone,
        p_corrected=found.p,
        queries=len(pair.now),
        unit=found.unit,
    )


def row(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain values."""
    values = {name: getattr(finding, name) for name in Finding.__dataclass_fields__ if name != "key"}
    return {**finding.key._asdict(), **values}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
