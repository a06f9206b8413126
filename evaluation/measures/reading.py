"""Reading a ranking in order: how much gold has been seen after how many units of text.

Document order inside a chunk; text that was already read is free (or charged); a header costs budget and is never gold;
the last chunk is cut off at the budget. The curve y(x) is piecewise linear with slope 0 or 1, so it is fully described
by the pieces of gold that are read for the first time: where each begins, and how long it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.axis import Layout, Spans, lay_out
from evaluation.types import TextCase


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of text in reading order: case, units read before, length, stretch."""

    case: np.ndarray
    x: np.ndarray
    length: np.ndarray
    stretch: np.ndarray

    def within(self, budget: int) -> np.ndarray:
        """Return how much of each piece is read before the budget is spent."""
        part: np.ndarray = np.clip(budget - self.x, 0, self.length)
        return part


@dataclass(frozen=True, slots=True)
class Curve:
    """Gold read for the first time, text read again, and the size of the whole ranking."""

    gold: Pieces
    again: Pieces
    size: np.ndarray


class Top(NamedTuple):
    """The first k results of each case: gold units, units sent, and units sent again."""

    gold: np.ndarray
    sent: np.ndarray
    again: np.ndarray


class ResultPieces(NamedTuple):
    """The text of the results cut into pieces, in reading order: case, stretch, length, whether it is gold."""

    result: np.ndarray
    stretch: np.ndarray
    length: np.ndarray
    is_gold: np.ndarray


class Reading:
    """How each case of a batch is read, in one unit."""

    def __init__(self, layout: Layout, headers: np.ndarray | None, n_cases: int) -> None:
        self.layout = layout
        self.n_cases = n_cases
        self._headers = headers
        self._expand()

    def _expand(self) -> None:
        """Lay out the pieces: each result's stretches in document order, results by rank."""
        spans = self.layout.results
        counts = spans.last - spans.first
        ends = np.cumsum(counts)
        self._result = np.repeat(np.arange(len(counts)), counts)
        self._stretch = np.arange(ends[-1] if len(ends) else 0) + np.repeat(spans.first - (ends - counts), counts)
        first = np.empty(len(self.layout.length), dtype=np.int64)
        # Of equal indices the last one is kept: in reverse order, that is the first result that shows the stretch.
        first[self._stretch[::-1]] = self._result[::-1]
        self._fresh = first[self._stretch] == self._result
        self._length = self.layout.length[self._stretch]
        self._case = spans.case[self._result]

    @cached_property
    def is_gold(self) -> np.ndarray:
        """Whether each stretch is gold; overlapping regions count once."""
        return covered(self.layout.gold, len(self.layout.length))

    @property
    def pieces(self) -> ResultPieces:
        """The pieces of every result, including those that an earlier one showed."""
        return ResultPieces(self._result, self._stretch, self._length, self.is_gold[self._stretch])

    @cached_property
    def total(self) -> np.ndarray:
        """Units of gold in each case: T."""
        stretches, owner = np.flatnonzero(self.is_gold), np.empty(len(self.is_gold), dtype=np.int64)
        gold = self.layout.gold
        counts = gold.last - gold.first
        ends = np.cumsum(counts)
        owner[np.arange(counts.sum()) + np.repeat(gold.first - (ends - counts), counts)] = np.repeat(gold.case, counts)
        return self.per_case(owner[stretches], self.layout.length[stretches])

    @cached_property
    def free(self) -> Curve:
        """The curve where text that was already read costs nothing."""
        return self._curve(np.where(self._fresh, self._length, 0))

    @cached_property
    def charged(self) -> Curve:
        """The curve where every unit that is sent costs one."""
        return self._curve(self._length)

    def curve(self, *, charge_duplicates: bool) -> Curve:
        """Return the curve under the given rule for text that was already read."""
        return self.charged if charge_duplicates else self.free

    def top(self, k: int | None) -> Top:
        """Return the contents of the first k results, or of all of them, whatever their size."""
        case = self.layout.results.case
        rank = np.arange(len(case)) - np.searchsorted(case, case)
        shown = (rank < (sys.maxsize if k is None else k))[self._result]
        new_gold = shown & self._fresh & self.is_gold[self._stretch]
        return Top(*(self.per_case(self._case[m], self._length[m]) for m in (new_gold, shown, shown & ~self._fresh)))

    @cached_property
    def result_sizes(self) -> np.ndarray:
        """Units of each result."""
        return np.bincount(self._result, weights=self._length, minlength=len(self.layout.results.case))

    @cached_property
    def result_costs(self) -> np.ndarray:
        """Units that reading each result takes: its header, and text that no earlier one showed."""
        fresh = np.where(self._fresh, self._length, 0)
        costs = np.bincount(self._result, weights=fresh, minlength=len(self.layout.results.case))
        return costs if self._headers is None else costs + self._headers

    @cached_property
    def result_gold(self) -> np.ndarray:
        """Gold units of each result, whether read before or not."""
        gold = np.where(self.is_gold[self._stretch], self._length, 0)
        return np.bincount(self._result, weights=gold, minlength=len(self.layout.results.case))

    def per_case(self, case: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the values of each case."""
        return np.bincount(case, weights=values, minlength=self.n_cases)

    def _curve(self, cost: np.ndarray) -> Curve:
        x = np.cumsum(cost) - cost
        size = self.per_case(self._case, cost)
        before = np.cumsum(size) - size
        if self._headers is not None:
            x = x + np.cumsum(self._headers)[self._result]
            own = self.per_case(self.layout.results.case, self._headers)
            size, before = size + own, before + np.cumsum(own) - own
        x = x - before[self._case].astype(np.int64)

        def pick(mask: np.ndarray) -> Pieces:
            return Pieces(self._case[mask], x[mask], self._length[mask], self._stretch[mask])

        return Curve(gold=pick(self._fresh & self.is_gold[self._stretch]), again=pick(~self._fresh), size=size)


def covered(spans: Spans, stretches: int) -> np.ndarray:
    """Return, for each stretch, whether any of the spans covers it."""
    steps = np.bincount(spans.first, minlength=stretches) - np.bincount(spans.last, minlength=stretches)
    return np.cumsum(steps) > 0


def read(cases: Sequence[TextCase], unit: SizeUnit | None) -> Reading:
    """Return how these cases are read in this unit, or in bytes and without their headers."""
    headers = None
    if unit is not None and any(unit in case.headers for case in cases):
        own = [np.asarray(case.headers.get(unit, np.zeros(len(case.results), dtype=np.int64))) for case in cases]
        headers = np.concatenate(own).astype(np.int64)
    return Reading(lay_out(cases, unit), headers, len(cases))
