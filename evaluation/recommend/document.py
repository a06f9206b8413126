"""A recommendation as JSON; scores, risks and the margin are in points if the measure is a share."""

from __future__ import annotations

from typing import Any

from evaluation.recommend.paste import snippets
from evaluation.recommend.types import CandidateRecord, Cost, Current, Finalist, Recommendation
from evaluation.recommend.words import sentences
from evaluation.report.formats import scale, unit_words
from evaluation.results.document import json_number
from evaluation.statistics import Interval

VERSION = 1


def to_json(made: Recommendation) -> dict[str, Any]:
    """Return the recommendation as plain values."""
    by = scale(made.measure)
    return {
        "version": VERSION,
        "recommended": made.recommended,
        "may_be_best": list(made.may_be_best),
        "risk": _number(made.risk, by),
        "risk_among_finalists": _number(made.best.final_risk, by),
        "likely_loss": _number(made.loss, by),
        "leader": made.leader,
        "margin": _number(made.margin, by),
        "unit": unit_words(made.measure),
        "sentences": sentences(made),
        "finalists": [_finalist(each, by) for each in made.finalists],
        "candidates": [_candidate(each, by) for each in made.candidates],
        "current": _current(made.current, by) if made.current else None,
        "embedded_texts": made.embedded_texts,
        "grid_texts": made.grid_texts,
        "rounds": [each._asdict() for each in made.rounds],
        "dataset": made.dataset,
        "repositories": made.repositories,
        "queries": made.queries,
        "mined": made.mined,
        "measure": made.measure,
        "embedder": made.embedder or None,
        "retriever": made.retriever,
        "seed": made.seed,
        "seconds": round(made.seconds, 3),
        "detectable": None if made.detectable is None else _number(made.detectable, by),
        "caveats": list(made.caveats),
        "failed": dict(made.failed),
        "paste": [each._asdict() for each in snippets(made.recommended, made.code)],
    }


def _number(value: float | None, by: float) -> float | None:
    return None if value is None else json_number(value * by)


def _interval(found: Interval, by: float) -> dict[str, Any]:
    return {
        "mean": _number(found.mean, by),
        "low": _number(found.low, by),
        "high": _number(found.high, by),
        "queries": found.n,
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {name: getattr(cost, name) for name in Cost.__dataclass_fields__}


def _finalist(each: Finalist, by: float) -> dict[str, Any]:
    return {
        "spec": each.spec,
        **_interval(each.mean, by),
        "mean_of_all_queries": _number(each.mean_of_all, by),
        "may_be_best": each.may_be_best,
        "risk": _number(each.risk, by),
        "risk_among_finalists": _number(each.final_risk, by),
        "cost": _cost(each.cost),
    }


def _candidate(each: CandidateRecord, by: float) -> dict[str, Any]:
    return {
        "spec": each.spec,
        "family": each.family,
        "fate": each.fate,
        "reason": each.reason,
        "chunks": each.chunks,
        "mean_nws": each.mean_nws,
        "tokens": each.tokens,
        "texts": each.texts,
        "round": each.round,
        "rounds": [_interval(found, by) for found in each.rounds],
        "may_be_best": each.may_be_best,
        "better_by_at_most": _number(each.better_by, by),
        "behind": _number(each.behind, by),
        "rival": each.rival or None,
    }


def _current(each: Current, by: float) -> dict[str, Any]:
    gain, change = each.gain, each.change
    return {
        "spec": each.spec,
        "mean": _interval(each.mean, by) if each.mean else None,
        "gain": _number(gain.mean, by) if gain else None,
        "gain_low": _number(gain.low, by) if gain else None,
        "gain_high": _number(gain.high, by) if gain else None,
        "decision": None if change is None else change.decision,
        "cost": _cost(each.cost) if each.cost else None,
        "failed": each.failed or None,
        "uncut": each.uncut or None,
    }
