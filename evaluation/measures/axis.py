"""The text of a batch on one axis: each file of a case has its own section, cut wherever a span begins or ends."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

import numpy as np

from chunkers.types import SizeUnit
from evaluation.types import Measured, TextCase, TextSpan


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of all cases, in order: their cases, and the stretches of the axis that they cover."""

    case: np.ndarray
    first: np.ndarray
    """The first stretch of each span."""
    last: np.ndarray
    """The stretch after its last one."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Stretches between neighbouring cuts; a span covers whole stretches only."""

    length: np.ndarray
    """Units of each stretch."""
    results: Spans
    gold: Spans


def lay_out(cases: Sequence[TextCase], unit: SizeUnit | None) -> Layout:
    """Return the results and the gold of all cases as runs of stretches, by the cases' rulers or in bytes."""
    counts = [len(case.results) for case in cases] + [len(case.gold) for case in cases]
    case_of = np.repeat(np.tile(np.arange(len(cases)), 2), counts)
    spans = _array(chain.from_iterable(chain((c.results for c in cases), (c.gold for c in cases))), sum(counts))
    rulers = [case.visible if unit is None else case.rulers[unit] for case in cases]
    measured = [ruler for ruler in rulers if ruler is not None]
    if measured and len(measured) < len(rulers):
        raise ValueError("some cases of a batch hide text and others do not")
    ends = _in_units(measured, case_of, spans) if measured else _bytes(case_of, spans)
    cuts = _distinct(ends)
    at = np.searchsorted(cuts, ends)
    n_results = sum(counts[: len(cases)])
    results, gold = (
        Spans(case_of[part], at[part, 0], at[part, 1]) for part in (slice(n_results), slice(n_results, None))
    )
    return Layout(np.diff(cuts, append=cuts[-1:]), results, gold)


def _bytes(case_of: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Return the spans' ends on one axis, in bytes."""
    place = case_of * (spans[:, 0].max(initial=0) + 1) + spans[:, 0]
    return _disjoint(spans[:, 1:], place, longest=spans[:, 2].max(initial=0))


def _in_units(of_case: Sequence[Sequence[Measured]], case_of: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Return the spans' ends on one axis, in units of the files' rulers."""
    rulers, base = _rulers(of_case)
    ruler_of = base[case_of] + spans[:, 0]
    units = _units(rulers, ruler_of, spans[:, 1:])
    return _disjoint(units, case_of * len(rulers) + ruler_of, longest=units.max(initial=0))


class _Joined:
    """The rulers of several cases in sequence; each is fetched only when needed, because that may compute it."""

    def __init__(self, parts: Sequence[Sequence[Measured]]) -> None:
        self._parts = parts
        self.begins = [0, *accumulate(map(len, parts))]

    def __len__(self) -> int:
        return self.begins[-1]

    def __getitem__(self, number: int) -> Measured:
        part = bisect_right(self.begins, number) - 1
        return self._parts[part][number - self.begins[part]]


def _rulers(of_case: Sequence[Sequence[Measured]]) -> tuple[_Joined, np.ndarray]:
    """Return all rulers, and where each case's begin; cases that share rulers share them here."""
    parts = {id(rulers): rulers for rulers in of_case}
    joined = _Joined(list(parts.values()))
    begins = dict(zip(parts, joined.begins, strict=False))
    return joined, np.array([begins[id(rulers)] for rulers in of_case], dtype=np.int64)


def _array(spans: Iterable[TextSpan], count: int) -> np.ndarray:
    return np.fromiter(chain.from_iterable(spans), dtype=np.int64, count=3 * count).reshape(-1, 3)


def _units(rulers: _Joined, ruler_of: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return offsets in units; each ruler is called once."""
    # 16-bit numbers are sorted by radix, several times as fast.
    order = np.argsort(ruler_of.astype(np.uint16) if len(rulers) < 2**16 else ruler_of, kind="stable")
    grouped, sorted_rulers = offsets[order], ruler_of[order]
    edges = [*np.flatnonzero(np.diff(sorted_rulers, prepend=-1)).tolist(), len(order)]
    for begin, end in pairwise(edges):
        grouped[begin:end] = rulers[int(sorted_rulers[begin])].at(grouped[begin:end])
    units = np.empty_like(grouped)
    units[order] = grouped
    return units


def _disjoint(ends: np.ndarray, place: np.ndarray, *, longest: int) -> np.ndarray:
    """Return the ends on one axis: each pair of case and file has room for the largest end plus one unit."""
    line: np.ndarray = ends + (place * (longest + 1))[:, None]
    return line


def _distinct(ends: np.ndarray) -> np.ndarray:
    cuts = np.sort(ends, axis=None)
    return cuts[np.concatenate(([True], cuts[1:] != cuts[:-1]))] if len(cuts) else cuts
