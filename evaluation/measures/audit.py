"""The property table, executed: each measure over all rankings of small worlds, against its declared properties.

Two worlds: five items ranked in every order, where a cutoff covers all of them and a budget half of their text; and one
file cut into chunks of several sizes, where a cutoff is two chunks and a budget half of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures import audit_worlds as world
from evaluation.measures.evaluate import best_scores
from evaluation.measures.measure import BudgetMeasure, Measure, RankedMeasure
from evaluation.measures.plain import PLAIN
from evaluation.measures.registry import measure_classes
from evaluation.measures.to_recall import TokensToRecall
from evaluation.types import Case

CLOSE = 1e-9
PROPERTIES: dict[str, str] = {
    "bounded": "every value lies in the declared range",
    "perfect": "the ideal ranking scores 1, given the budget to read it",
    "empty": "no results score 0",
    "rename": "other spellings of the ids change nothing",
    "monotone": "moving a better item up one rank never makes the score worse",
    "top_heavy": "a swap of the first two ranks matters more than one of the last two",
    "stable": "appending an irrelevant item changes nothing",
    "engine": "equals the definition written out, to 1e-9",
    "ioi_binary": "only the ideal ranking has the best score, relevance being yes or no",
    "ioi_graded": "only the ideal ranking has the best score, all grades being different",
    "symmetric": "ranking and reference may change places",
    "type1": "one swap of neighbours changes the score by at most 1/n of the range",
    "type2_items": "the same two items swapped in both rankings change nothing",
    "type2_positions": "the same two ranks swapped in both rankings change nothing",
    "split": "a retrieved chunk cut in two, at neighbouring ranks, changes nothing",
    "duplicate": "a further chunk of text already read never improves the score",
    "chance": "a random ranking scores the same whatever the size of the chunks",
}


class Finding(NamedTuple):
    """One cell of the table; ``holds`` is None if the property does not apply to the measure."""

    measure: str
    name: str
    declared: bool
    holds: bool | None

    @property
    def broken(self) -> bool:
        """Whether the measure lacks a declared property."""
        return self.declared and self.holds is not True


@cache
def audit() -> tuple[Finding, ...]:
    """Return the findings for every registered measure and property."""
    return tuple(
        finding
        for cls in measure_classes().values()
        for finding in audit_measure(
            specimen(cls, budget=25, cutoff=len(world.ITEMS)), specimen(cls, budget=world.FILE_UNITS // 2, cutoff=2)
        )
    )


def audit_measure(items: Measure, chunks: Measure) -> list[Finding]:
    """Return the findings for a measure with a cutoff for the items' world, and with one for the chunks' world."""
    unknown = items.properties - set(PROPERTIES)
    if unknown:
        raise UsageError(f"{items.label} declares unknown properties: {', '.join(sorted(unknown))}")
    findings = []
    for name in PROPERTIES:
        measure = chunks if name in {"split", "duplicate", "chance"} else items
        try:
            holds = _CHECKS[name](measure)
        except UsageError:
            holds = None
        findings.append(Finding(items.pattern, name, name in items.properties, holds))
    return findings


def specimen(cls: type[Measure], *, budget: int, cutoff: int) -> Measure:
    """Return the measure with this budget or cutoff, whichever it takes."""
    if issubclass(cls, BudgetMeasure):
        return cls(budget=budget)
    if issubclass(cls, TokensToRecall):
        return cls(recall=0.5)
    if issubclass(cls, RankedMeasure):
        return cls(cutoff=cutoff)
    return cls()


def _values(measure: Measure, cases: Sequence[Case]) -> np.ndarray:
    named = [replace(case, query_id=str(number)) for number, case in enumerate(cases)]
    return best_scores(measure, named)


def _worst(measure: Measure, values: np.ndarray) -> np.ndarray:
    """Return the values oriented so that higher is better, with undefined ones last."""
    worth: np.ndarray = np.nan_to_num(-values if measure.direction == "lower" else values, nan=-1e9)
    return worth


def _swapped(ranking: Sequence[str], rank: int) -> tuple[str, ...]:
    return (*ranking[:rank], ranking[rank + 1], ranking[rank], *ranking[rank + 2 :])


def _same(left: np.ndarray, right: np.ndarray) -> bool:
    return bool(np.allclose(left, right, rtol=0, atol=CLOSE, equal_nan=True))


def _bounded(measure: Measure) -> bool:
    cases = [world.item_case(r, g) for g in (world.BINARY, world.GRADED) for r in world.RANKINGS]
    values = _values(measure, cases)
    low, high = measure.range
    return not bool(np.any((values < low - CLOSE) | (values > high + CLOSE)))


def _perfect(measure: Measure) -> bool:
    if isinstance(measure, BudgetMeasure):
        # Enough to read everything: with less than the size of the gold, no ranking could show all of it.
        measure = replace(measure, budget=len(world.ITEMS) * world.UNITS_PER_ITEM)
    cases = [world.item_case(world.ITEMS, g) for g in (world.BINARY, world.GRADED)]
    return _same(_values(measure, cases), np.ones(2))


def _empty(measure: Measure) -> bool:
    return _same(_values(measure, [world.item_case((), world.BINARY)]), np.zeros(1))


def _rename(measure: Measure) -> bool:
    worlds = [(r, g) for g in (world.BINARY, world.GRADED) for r in world.RANKINGS[::7]]
    plain = _values(measure, [world.item_case(*w) for w in worlds])
    return all(
        _same(plain, _values(measure, [world.item_case(*w, names=names) for w in worlds]))
        for names in ("zyxwv", "cabed", "10243")
    )


def _monotone(measure: Measure) -> bool:
    before, after = [], []
    for grades in (world.BINARY, world.GRADED):
        for ranking in world.RANKINGS:
            for rank in range(len(ranking) - 1):
                if grades.get(ranking[rank + 1], 0) > grades.get(ranking[rank], 0):
                    before.append(world.item_case(ranking, grades))
                    after.append(world.item_case(_swapped(ranking, rank), grades))
    scores = [_worst(measure, _values(measure, cases)) for cases in (before, after)]
    return bool(np.all(scores[1] >= scores[0] - CLOSE))


def _swap_sizes(measure: Measure, rank: int) -> np.ndarray:
    """Return how much a swap at this rank changes the score, for every ranking of graded items."""
    before = _values(measure, [world.item_case(r, world.GRADED) for r in world.RANKINGS])
    after = _values(measure, [world.item_case(_swapped(r, rank), world.GRADED) for r in world.RANKINGS])
    change: np.ndarray = np.abs(after - before)
    return change


def _top_heavy(measure: Measure) -> bool:
    return bool(_swap_sizes(measure, 0).mean() > _swap_sizes(measure, len(world.ITEMS) - 2).mean() + CLOSE)


def _stable(measure: Measure) -> bool:
    for grades in (world.BINARY, world.GRADED):
        short = [world.item_case(r[:4], grades, reference=world.ITEMS) for r in world.RANKINGS if r[4] == "e"]
        long = [world.item_case(r, grades, reference=world.ITEMS) for r in world.RANKINGS if r[4] == "e"]
        if not _same(_values(measure, short), _values(measure, long)):
            return False
    return True


def _engine(measure: Measure) -> bool | None:
    if measure.label not in PLAIN or "grades" not in measure.needs:
        return None
    worlds = [(r[:n], g) for g in (world.BINARY, world.GRADED) for n in (2, 5) for r in world.RANKINGS]
    expected = np.array([PLAIN[measure.label](r, g, len(world.ITEMS)) for r, g in worlds])
    return _same(_values(measure, [world.item_case(*w) for w in worlds]), expected)


def _identity(measure: Measure, grades: dict[str, float]) -> bool:
    values = _worst(measure, _values(measure, [world.item_case(r, grades) for r in world.RANKINGS]))
    best = np.flatnonzero(values >= values.max() - CLOSE)
    return [world.RANKINGS[i] for i in best] == [world.ITEMS]


def _pair(ranking: Sequence[str], reference: Sequence[str]) -> Case:
    """Return the case that compares two rankings: the reference also grades the items, from n - 1 down to 0."""
    grades = {item: float(len(reference) - 1 - rank) for rank, item in enumerate(reference)}
    return world.item_case(ranking, grades, reference=reference)


_PAIRS = [(r, s) for r in world.RANKINGS[::11] for s in world.RANKINGS[::13]]


def _symmetric(measure: Measure) -> bool:
    there = _values(measure, [_pair(r, s) for r, s in _PAIRS])
    return _same(there, _values(measure, [_pair(s, r) for r, s in _PAIRS]))


def _type1(measure: Measure) -> bool:
    low, high = measure.range
    if not np.isfinite(high - low):
        return False
    limit = (high - low) / len(world.ITEMS) + CLOSE
    return all(bool(np.all(_swap_sizes(measure, rank) <= limit)) for rank in range(len(world.ITEMS) - 1))


def _type2(measure: Measure, swap: Callable[[Sequence[str]], Sequence[str]]) -> bool:
    before = _values(measure, [_pair(r, s) for r, s in _PAIRS])
    return _same(before, _values(measure, [_pair(swap(r), swap(s)) for r, s in _PAIRS]))


def _exchange(ranking: Sequence[str]) -> list[str]:
    return [{"b": "c", "c": "b"}.get(item, item) for item in ranking]


def _split(measure: Measure) -> bool:
    whole, parts = [], []
    for ranking in ([(0, 6), (6, 12)], [(6, 12), (0, 6)], [(3, 9), (0, 3)], [(0, 12)]):
        for number, (start, end) in enumerate(ranking):
            for cut in range(start + 1, end):
                whole.append(world.chunk_case(ranking, world.tiling(6)))
                pieces = [*ranking[:number], (start, cut), (cut, end), *ranking[number + 1 :]]
                parts.append(world.chunk_case(pieces, world.tiling(6)))
    return _same(_values(measure, whole), _values(measure, parts))


def _duplicate(measure: Measure) -> bool:
    before, after = [], []
    for ranking in ([(0, 6), (6, 12)], [(6, 12), (0, 6)], [(0, 3), (3, 9)], [(2, 5)]):
        for place in range(1, len(ranking) + 1):
            seen = ranking[place - 1]
            again = [*ranking[:place], (seen[0] + 1, seen[1]), *ranking[place:]]
            before.append(world.chunk_case(ranking, world.tiling(6)))
            after.append(world.chunk_case(again, world.tiling(6)))
    scores = [_worst(measure, _values(measure, cases)) for cases in (before, after)]
    return bool(np.all(scores[1] <= scores[0] + CLOSE))


def _chance(measure: Measure) -> bool:
    """Compare the exact means over all rankings and all places of the gold, for three chunk sizes."""
    means = []
    for size in (3, 4, 6):
        chunks = world.tiling(size)
        cases = [world.chunk_case(r, chunks, gold=g) for r in permutations(chunks) for g in world.GOLD_PLACES]
        means.append(float(_values(measure, cases).mean()))
    return max(means) - min(means) <= CLOSE


_CHECKS: dict[str, Callable[[Measure], bool | None]] = {
    "bounded": _bounded,
    "perfect": _perfect,
    "empty": _empty,
    "rename": _rename,
    "monotone": _monotone,
    "top_heavy": _top_heavy,
    "stable": _stable,
    "engine": _engine,
    "ioi_binary": lambda measure: _identity(measure, dict(world.BINARY)),
    "ioi_graded": lambda measure: _identity(measure, dict(world.GRADED)),
    "symmetric": _symmetric,
    "type1": _type1,
    "type2_items": lambda measure: _type2(measure, _exchange),
    "type2_positions": lambda measure: _type2(measure, lambda ranking: _swapped(ranking, 1)),
    "split": _split,
    "duplicate": _duplicate,
    "chance": _chance,
}
