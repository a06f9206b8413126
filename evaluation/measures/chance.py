"""What a random ranking would score: the level above which a measure says anything.

Each chunker makes its own chunks, so each has its own chance level. Closed form where there is one, a seeded
simulation otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import lgamma
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.evaluate import evaluate
from evaluation.measures.measure import Measure, relevance
from evaluation.types import Case, TextSpan


class Draw(NamedTuple):
    """A random draw: the relevant chunks among all, the ranks that are looked at, and the measure's cutoff."""

    gains: np.ndarray
    """Gains above 0 of all judged chunks, falling."""
    relevant: int
    population: int
    ranks: int
    cutoff: int


_Form = Callable[[Draw], float]


def chance_level(
    measure: Measure,
    case: Case,
    ids: Sequence[str],
    *,
    spans: Sequence[TextSpan] | None = None,
    depth: int | None = None,
    samples: int = 200,
    seed: int = 0,
) -> float:
    """Return the expected score of ``depth`` chunks drawn from ``ids`` without replacement, in random order.

    ``case`` says what is relevant or gold; its own ranking is not looked at. ``spans`` are the chunks' texts, for
    measures that read them.
    """
    closed = closed_form(measure, case, population=len(ids), depth=depth)
    if closed is not None:
        return closed
    return simulated(measure, case, ids, spans=spans, depth=depth, samples=samples, seed=seed)


def chance_corrected(score: float, chance: float) -> float:
    """Return 0 for chance level and 1 for a perfect score; NaN where chance alone is perfect."""
    return (score - chance) / (1 - chance) if chance < 1 else float("nan")


def closed_form(measure: Measure, case: Case, *, population: int, depth: int | None = None) -> float | None:
    """Return the exact expectation, or None where the measure has no closed form."""
    form = _FORMS.get(measure.label) if measure.needs == {"grades"} else None
    if form is None:
        return None
    if case.grades is None:
        raise UsageError(f"query {case.query_id!r} is not labelled: it has no chance level")
    gains = np.maximum(np.array(list(case.grades.values()), dtype=float), 0)
    rel = getattr(measure, "rel", "")
    passes = relevance(rel)(gains)
    gains = passes.astype(float) if rel else gains
    relevant = int(passes.sum())
    if not relevant:
        return 0.0
    returned = min(population, population if depth is None else depth)
    cutoff = getattr(measure, "cutoff", None) or returned
    draw = Draw(np.sort(gains)[::-1], relevant, population, min(cutoff, returned), cutoff)
    return form(draw) if returned else 0.0


def simulated(
    measure: Measure,
    case: Case,
    ids: Sequence[str],
    *,
    spans: Sequence[TextSpan] | None = None,
    depth: int | None = None,
    samples: int = 200,
    seed: int = 0,
) -> float:
    """Return the mean score of random rankings; NaN where the measure is undefined for all of them."""
    rng = np.random.default_rng(seed)
    drawn = []
    for number in range(samples):
        order = rng.permutation(len(ids))[:depth].tolist()
        text = case.text
        if text is not None and spans is not None:
            text = replace(text, results=[spans[i] for i in order], headers={})
        drawn.append(replace(case, query_id=str(number), ranking=[ids[i] for i in order], text=text))
    if "text" in measure.needs and spans is None:
        raise UsageError(f"the chance level of {measure.name} needs the text of all chunks")
    values = np.array([row[measure.name] for row in evaluate([measure], drawn).values()])
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _discounts(count: int) -> np.ndarray:
    discount: np.ndarray = 1 / np.log2(np.arange(count) + 2)
    return discount


def _ndcg(draw: Draw) -> float:
    """Return the mean gain at every rank, discounted, over the ideal."""
    best = draw.gains[: draw.cutoff]
    ideal = best @ _discounts(len(best))
    return float(draw.gains.sum() / draw.population * _discounts(draw.ranks).sum() / ideal)


def _ndcg_exp(draw: Draw) -> float:
    return _ndcg(draw._replace(gains=2**draw.gains - 1))


def _precision(draw: Draw) -> float:
    return draw.ranks * draw.relevant / draw.population / draw.cutoff


def _recall(draw: Draw) -> float:
    return draw.ranks / draw.population


def _none_in(draw: Draw, ranks: int) -> float:
    """Return the probability that the first ranks hold nothing relevant."""
    others = draw.population - draw.relevant
    if ranks > others:
        return 0.0
    log = lgamma(others + 1) - lgamma(others - ranks + 1)
    return float(np.exp(log - lgamma(draw.population + 1) + lgamma(draw.population - ranks + 1)))


def _hit(draw: Draw) -> float:
    return 1 - _none_in(draw, draw.ranks)


def _mrr(draw: Draw) -> float:
    """Return the sum over ranks of 1/rank and the probability that the first relevant result is there."""
    none = [_none_in(draw, rank) for rank in range(draw.ranks + 1)]
    return float(sum((none[rank - 1] - none[rank]) / rank for rank in range(1, draw.ranks + 1)))


def _precision_sums(draw: Draw) -> float:
    """Return the expected sum of precisions at relevant results: at rank i, one hit and (i-1) draws of the rest."""
    rank = np.arange(1, draw.ranks + 1)
    rest = (draw.relevant - 1) / max(1, draw.population - 1)
    return float((draw.relevant / draw.population * (1 + (rank - 1) * rest) / rank).sum())


_FORMS: dict[str, _Form] = {
    "ndcg": _ndcg,
    "ndcg_exp": _ndcg_exp,
    "precision": _precision,
    "precision_returned": lambda draw: draw.relevant / draw.population,
    "recall": _recall,
    "hit": _hit,
    "mrr": _mrr,
    "map": lambda draw: _precision_sums(draw) / draw.relevant,
    "ap_capped": lambda draw: _precision_sums(draw) / min(draw.relevant, draw.cutoff),
    "relevant": lambda draw: float(draw.relevant),
}
