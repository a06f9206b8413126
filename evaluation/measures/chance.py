"""The score of a random ranking: the level above which a measure carries information.

Each chunker makes its own chunks, so each has its own chance level: the expected score of a uniformly random ranking of
the same search space. It is exact, by a closed form for measures on ids and by `arrivals` for measures on text. Where
chunks overlap, or an answer has alternatives of which the best counts, it is the mean over random rankings drawn with a
fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import lgamma
from typing import NamedTuple, cast

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.arrivals import Arrivals
from evaluation.measures.budget_recall import CurveMeasure
from evaluation.measures.gold_chunks import GoldChunks, gold_chunks, space_of
from evaluation.measures.measure import Measure, relevance
from evaluation.measures.random_rankings import simulated
from evaluation.types import Case, SearchSpace

_MOST_SETS = 10
"""Chunks with gold up to which all their sets are enumerated, for a measure that is not linear in the gold read."""


_LARGEST = 200_000
"""Budget in units up to which the distribution of what is read is computed unit by unit."""


class Draw(NamedTuple):
    """A random draw: the relevant chunks among all, the ranks that are read, and the measure's cutoff."""

    gains: np.ndarray
    """Gains above 0 of all judged chunks, descending."""
    relevant: int
    population: int
    ranks: int
    cutoff: int


_Form = Callable[[Draw], float]


def has_chance(measure: Measure) -> bool:
    """Return whether the measure's chance level is known."""
    return isinstance(measure, CurveMeasure) or (measure.needs == {"grades"} and measure.label in _FORMS)


def chance(measure: Measure, case: Case) -> float:
    """Return the expected score of a uniformly random ranking of the case's search space."""
    space = space_of(case)
    if case.answers:
        return simulated(measure, case)
    if not isinstance(measure, CurveMeasure):
        return closed_form(measure, case, population=len(space), depth=space.depth)
    gold = gold_chunks(measure, case)
    if not gold.chunks:
        return 0.0
    unwieldy = min(measure.budget, int(space.costs(measure.budget_unit).sum())) > _LARGEST
    if unwieldy or space.overlaps or (not measure.linear and len(gold.chunks) > _MOST_SETS):
        return simulated(measure, case)
    arrivals = _arrivals(space, measure)
    value = _expected_value if measure.linear else _expected_by_sets
    return value(measure, gold, arrivals)


def _arrivals(space: SearchSpace, measure: CurveMeasure) -> Arrivals:
    key = ("arrivals", measure.budget_unit, measure.budget)
    if key not in space.memory:
        space.memory[key] = Arrivals(space.costs(measure.budget_unit), measure.budget)
    return cast("Arrivals", space.memory[key])


def _expected_value(measure: CurveMeasure, gold: GoldChunks, arrivals: Arrivals) -> float:
    """Return the value of the expected worth of each chunk, over what may have been read before it."""
    x = np.arange(arrivals.budget)
    worth = sum(float(chunk.worth(measure, x) @ arrivals.before(chunk.cost)) for chunk in gold.chunks)
    return float(_value(measure, np.array([worth]), gold)[0])


def _expected_by_sets(measure: CurveMeasure, gold: GoldChunks, arrivals: Arrivals) -> float:
    """Return the expected value: the sum of the rises over each chunk's arrival and each set of earlier ones."""
    rest = arrivals.without([chunk.cost for chunk in gold.chunks])
    expected = 0.0
    for chunk in gold.chunks:
        others = [other for other in gold.chunks if other is not chunk]
        for size in range(len(others) + 1):
            arrived = arrivals.times**size * (1 - arrivals.times) ** (len(others) - size)
            before = (arrivals.weights * arrived) @ rest
            for earlier in combinations(others, size):
                start = sum(other.cost for other in earlier)
                x = np.arange(start, arrivals.budget)
                if not len(x):
                    continue
                seen = float(sum(other.gold for other in earlier))
                rise = _value(measure, seen + chunk.worth(measure, x), gold) - _value(measure, np.array([seen]), gold)
                expected += float(rise @ before[: len(x)])
    return expected


def _value(measure: CurveMeasure, worth: np.ndarray, gold: GoldChunks) -> np.ndarray:
    return measure.value(worth, np.full(len(worth), gold.total), np.full(len(worth), gold.read))


def closed_form(measure: Measure, case: Case, *, population: int, depth: int | None = None) -> float:
    """Return the exact expectation for a measure on ids, of ``depth`` chunks drawn in random order."""
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
    # Without a cutoff the ideal holds everything relevant, however few chunks are returned.
    cutoff = measure.cutoff or population
    draw = Draw(np.sort(gains)[::-1], relevant, population, min(cutoff, returned), cutoff)
    return _FORMS[measure.label](draw) if returned else 0.0


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
    """Return the sum over ranks of 1/rank times the probability that the first relevant result is there."""
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
}
