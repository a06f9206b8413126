"""Chance without an exact form: the mean over random rankings of the search space, drawn with a fixed seed.

The rankings depend on the space alone, so all queries and measures share them, and few of the hundreds drawn hold any
of a query's gold: only those are scored, and one of the others represents the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TypeVar, cast

import numpy as np

from evaluation.measures.budget_recall import CurveMeasure
from evaluation.measures.evaluate import evaluate, variants
from evaluation.measures.gold_chunks import rows_near, space_of
from evaluation.measures.measure import Measure
from evaluation.types import Case, SearchSpace, TextSpan

DRAWS = 400
"""Number of random rankings."""
_SHUFFLED = 20_000
"""Chunks up to which a random order covers all of them; for more, only as many are drawn as are read."""

T = TypeVar("T")


@dataclass(frozen=True)
class _Rankings:
    """Random rankings, each up to where no measure with the budget or cutoff reads further."""

    drawn: Sequence[np.ndarray]
    """The chunk indices of each ranking."""

    def holding(self, places: np.ndarray) -> list[int]:
        """Return the numbers of the rankings that hold any of these chunks, and of one that holds none."""
        some = np.zeros(len(self.drawn), dtype=bool)
        some[self._owner[np.isin(self._flat, places)]] = True
        return [*np.flatnonzero(some).tolist(), *np.flatnonzero(~some)[:1].tolist()]

    @cached_property
    def _flat(self) -> np.ndarray:
        return np.concatenate(self.drawn)

    @cached_property
    def _owner(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.drawn)), [len(places) for places in self.drawn])


def simulated(measure: Measure, case: Case, *, draws: int = DRAWS, seed: int = 0) -> float:
    """Return the mean score of random rankings of the search space; NaN if the measure is undefined for all."""
    if isinstance(measure, CurveMeasure):
        rankings, held = _of_text(measure, space_of(case), draws, seed), _gold_rows(case)
        show: Callable[[np.ndarray], Case] = lambda order: _with_text(case, order)  # noqa: E731 - one of two
    else:
        names = _judged(case)
        rankings, held = _of_ids(measure, space_of(case), len(names), draws, seed), np.arange(len(names))
        show = lambda places: _with_ids(case, names, places)  # noqa: E731 - one of two
    scored = rankings.holding(held)
    cases = [replace(show(rankings.drawn[number]), query_id=str(number), space=None) for number in scored]
    found = [row[measure.name] for row in evaluate([measure], cases).values()]
    # The last one is without gold if any is: all rankings without gold have read as much, and score the same.
    values = np.full(draws, found[-1])
    values[scored] = found
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _of_text(measure: CurveMeasure, space: SearchSpace, draws: int, seed: int) -> _Rankings:
    """Return random orders of the space, each up to where the budget is surely spent."""
    unit, budget = measure.budget_unit, measure.budget

    def draw() -> _Rankings:
        rng, costs = np.random.default_rng(seed), space.costs(unit)
        # Text that was already read is free: only what no earlier chunk can have shown surely spends the budget.
        return _Rankings([_random_order(rng, costs, budget * space.folds) for _ in range(draws)])

    return _once(space, ("orders", unit, budget, draws, seed), draw)


def _random_order(rng: np.random.Generator, costs: np.ndarray, budget: int) -> np.ndarray:
    """Return the beginning of a random order of all chunks: those up to the one that spends the budget."""
    if len(costs) <= _SHUFFLED or costs.sum() < budget:
        order = rng.permutation(len(costs))
    else:
        order = _distinct(rng.integers(len(costs), size=64))
        while costs[order].sum() < budget:
            order = _distinct(np.concatenate((order, rng.integers(len(costs), size=8 * len(order)))))
    return order[: int(np.searchsorted(np.cumsum(costs[order]), budget)) + 1].copy()


def _distinct(drawn: np.ndarray) -> np.ndarray:
    """Return the draws without repetitions: distinct independent draws form a random order."""
    return np.asarray(drawn[np.sort(np.unique(drawn, return_index=True)[1])])


def _of_ids(measure: Measure, space: SearchSpace, judged: int, draws: int, seed: int) -> _Rankings:
    """Return random indices among all chunks; the first indices are those of the judged chunks."""
    population = max(len(space), judged)
    ranks = min([population, *(limit for limit in (space.depth, measure.cutoff) if limit is not None)])

    def draw() -> _Rankings:
        rng = np.random.default_rng(seed)
        return _Rankings([rng.choice(population, size=ranks, replace=False) for _ in range(draws)])

    return _once(space, ("places", population, ranks, draws, seed), draw)


def _once(space: SearchSpace, key: object, make: Callable[[], T]) -> T:
    if key not in space.memory:
        space.memory[key] = make()
    return cast("T", space.memory[key])


def _gold_rows(case: Case) -> np.ndarray:
    """Return the rows of the chunks that share a byte with the gold of any answer."""
    texts = [variant.text for variant in variants(case)]
    gold = list(chain.from_iterable(text.gold for text in texts if text is not None))
    return np.array(rows_near(space_of(case), gold), dtype=np.int64)


def _with_text(case: Case, order: np.ndarray) -> Case:
    assert case.text is not None  # noqa: S101 - only called for a measure of text
    space = space_of(case)
    results = [TextSpan(*row) for row in space.spans[order].tolist()]
    headers = {unit: costs[order].tolist() for unit, costs in space.headers.items()}
    return replace(case, ranking=list(map(str, order)), text=replace(case.text, results=results, headers=headers))


def _judged(case: Case) -> list[str]:
    every = [answer.grades or {} for answer in case.answers] or [case.grades or {}]
    return list(dict.fromkeys(item for grades in every for item in grades))


def _with_ids(case: Case, names: Sequence[str], places: np.ndarray) -> Case:
    # An id that no chunk can have represents every unjudged chunk.
    ids = [names[place] if place < len(names) else f"\x1f{place}" for place in places.tolist()]
    return replace(case, ranking=ids)
