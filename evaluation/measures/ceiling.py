"""The score of a perfect ranking of the same chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evaluation.measures.batch import Batch
from evaluation.measures.budget_recall import CurveMeasure
from evaluation.measures.gold_chunks import GoldChunk, GoldChunks, gold_chunks, space_of
from evaluation.measures.measure import Measure
from evaluation.types import Case

EXACT = 12
"""Up to this many partly gold chunks, every order is tried; with more, the densest first."""

EXACT_SHARED = 7
"""The same for chunks that share text; with more, only the few most promising sets of each size are followed."""

_WIDTH = 8


def ceilings(measure: Measure, cases: Sequence[Case]) -> np.ndarray:
    """Return the best score of any ranking of each search space; beyond `EXACT` chunks, a score close to it.

    For measures on ids, it is the judged chunks in the order of their grades. For measures on text, the order of the
    chunks without gold does not matter, and chunks of only gold come first; the order of the others determines which
    gold still fits into the budget, and is searched over all sets of chunks read so far.
    """
    if isinstance(measure, CurveMeasure):
        return np.array([_text_ceiling(measure, case) for case in cases], dtype=float)
    return measure.score(Batch([_ideal(measure, case) for case in cases], [measure]))


def _ideal(measure: Measure, case: Case) -> Case:
    space = space_of(case)
    grades = case.grades or {}
    best = sorted(grades, key=lambda item: -grades[item])
    returned = min([len(space), *(limit for limit in (space.depth, measure.cutoff) if limit is not None)])
    # An id that no chunk can have represents every unjudged chunk.
    ranking = [*best, *(f"\x1f{number}" for number in range(max(0, returned - len(best))))][:returned]
    return replace(case, ranking=ranking, text=None)


def _text_ceiling(measure: CurveMeasure, case: Case) -> float:
    gold = gold_chunks(measure, case)
    if not gold.chunks:
        return 0.0
    overlapping = _overlapping(gold)
    worth = _best_overlapping(measure, gold) if overlapping else _best_disjoint(measure, gold)
    return float(measure.value(np.array([worth]), np.array([gold.total]), np.array([gold.read]))[0])


def _overlapping(gold: GoldChunks) -> bool:
    stretches = gold.reading.pieces.stretch
    return len(np.unique(stretches)) < len(stretches)


def _best_disjoint(measure: CurveMeasure, gold: GoldChunks) -> float:
    """Return the greatest worth over all orders of chunks that share no text."""
    pure = [chunk for chunk in gold.chunks if chunk.gold == chunk.cost]
    mixed = [chunk for chunk in gold.chunks if chunk.gold < chunk.cost]
    start = sum(chunk.cost for chunk in pure)
    first = float(measure.worth(np.array([0]), np.array([start]))[0])
    if len(mixed) > EXACT:
        return first + _densest_first(measure, mixed, start)
    return first + _best_order(measure, mixed, start)


def _best_order(measure: CurveMeasure, chunks: Sequence[GoldChunk], start: int) -> float:
    """Return the greatest sum of worths: after a set of chunks, the units read do not depend on the order."""
    count = len(chunks)
    read = np.full(1 << count, start)
    for bit, chunk in enumerate(chunks):
        read[np.flatnonzero(np.arange(1 << count) >> bit & 1)] += chunk.cost
    worths = [chunk.worth(measure, read) for chunk in chunks]
    best = np.zeros(1 << count)
    for size in range(1, count + 1):
        now = _sets_of(count, size)
        options = [
            np.where(now >> bit & 1, best[now & ~(1 << bit)] + worths[bit][now & ~(1 << bit)], -np.inf)
            for bit in range(count)
        ]
        best[now] = np.max(options, axis=0)
    return float(best[-1])


def _sets_of(count: int, size: int) -> np.ndarray:
    return np.array([sum(1 << bit for bit in chosen) for chosen in combinations(range(count), size)])


class _Shared:
    """Chunks that may share text: the cost and new gold of each depend on the set of those read before."""

    def __init__(self, measure: CurveMeasure, gold: GoldChunks) -> None:
        pieces = gold.reading.pieces
        self.measure, self.chunks = measure, gold.chunks
        self._numbers = [gold.rows.index(chunk.row) for chunk in gold.chunks]
        self._headers = [gold.headers[number] for number in self._numbers]
        self._pieces = [tuple(column[pieces.result == number] for column in pieces[1:]) for number in self._numbers]

    def step(self, seen: frozenset[int], chunk: int) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the cost of the chunk after these, and where its new gold begins and how long it is."""
        read = np.concatenate([np.zeros(0, np.int64), *(self._pieces[other][0] for other in seen)])
        stretch, length, is_gold = self._pieces[chunk]
        fresh = ~np.isin(stretch, read)
        cost = length if self.measure.charge_duplicates else np.where(fresh, length, 0)
        new = fresh & is_gold & (length > 0)
        begins = np.cumsum(cost) - cost + self._headers[chunk]
        return int(cost.sum()) + self._headers[chunk], begins[new], length[new]


def _best_overlapping(measure: CurveMeasure, gold: GoldChunks) -> float:
    """Return the greatest worth over all orders of chunks that may share text; beyond `EXACT_SHARED`, likely ones."""
    shared = _Shared(measure, gold)
    everything = range(len(gold.chunks))
    best: dict[frozenset[int], _Read] = {frozenset(): _Read(0.0, 0, 0)}
    for _ in everything:
        following: dict[frozenset[int], _Read] = {}
        for seen, so_far in best.items():
            for chunk in everything:
                if chunk not in seen:
                    cost, begins, lengths = shared.step(seen, chunk)
                    gained = so_far.worth + float(measure.worth(so_far.cost + begins, lengths).sum())
                    # The same set was reached in another order, at the same cost: the best order counts.
                    known = following.get(seen | {chunk})
                    if known is None or gained > known.worth:
                        following[seen | {chunk}] = _Read(gained, so_far.cost + cost, so_far.gold + int(lengths.sum()))
        if len(gold.chunks) > EXACT_SHARED:
            hopes = {seen: read.hope(measure, gold.total) for seen, read in following.items()}
            following = {seen: following[seen] for seen in sorted(hopes, key=lambda seen: -hopes[seen])[:_WIDTH]}
        best = following
    return max(read.worth for read in best.values())


class _Read(NamedTuple):
    """A set of chunks in the best known order."""

    worth: float
    cost: int
    gold: int

    def hope(self, measure: CurveMeasure, total: float) -> float:
        """Return the worth if all remaining gold came next, without anything between."""
        rest = measure.worth(np.array([self.cost]), np.array([total - self.gold]))
        return self.worth + float(rest.sum())


def _densest_first(measure: CurveMeasure, chunks: Sequence[GoldChunk], start: int) -> float:
    total, read = 0.0, start
    for chunk in sorted(chunks, key=lambda chunk: (-chunk.gold / chunk.cost, chunk.cost, chunk.row)):
        total += float(chunk.worth(measure, np.array([read]))[0])
        read += chunk.cost
    return total
