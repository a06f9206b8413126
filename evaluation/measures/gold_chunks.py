"""The chunks of a search space that hold gold, and the worth of each to a measure when read after x units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.measures.budget_recall import CurveMeasure
from evaluation.measures.reading import Reading, read
from evaluation.types import Case, SearchSpace, TextCase, TextSpan


@dataclass(frozen=True)
class GoldChunk:
    """One chunk that holds gold: its row in the space, its reading cost, and where its gold is."""

    row: int
    cost: int
    begins: np.ndarray
    """Units of the chunk before each piece of its gold, including the header."""
    lengths: np.ndarray

    @property
    def gold(self) -> int:
        """Units of gold."""
        return int(self.lengths.sum())

    def worth(self, measure: CurveMeasure, x: np.ndarray) -> np.ndarray:
        """Return the worth of the chunk's gold when the chunk begins after x units of reading."""
        pieces = measure.worth(x[:, None] + self.begins, np.broadcast_to(self.lengths, (len(x), len(self.lengths))))
        return np.asarray(pieces.sum(axis=1))


@dataclass(frozen=True)
class GoldChunks:
    """The gold of one query as held by the chunks of its search space."""

    chunks: tuple[GoldChunk, ...]
    total: float
    """Units of gold, whether or not a chunk holds them."""
    read: int
    """Units read within the budget: the budget, or all there is."""
    reading: Reading
    """The chunks near the gold, in their order in the space, as a ranking."""
    rows: list[int]
    """Their rows in the space."""
    headers: list[int]
    """Units of their headers."""


def space_of(case: Case) -> SearchSpace:
    """Return the search space of the query; raise if the case has none."""
    if case.space is None:
        raise UsageError(f"query {case.query_id!r} comes without its search space: chance and ceiling are unknown")
    return case.space


def gold_chunks(measure: CurveMeasure, case: Case) -> GoldChunks:
    """Return the chunks that hold gold, each as if it were read first; shared by all measures of a unit."""
    space, text, unit = space_of(case), case.text, measure.budget_unit
    if text is None:
        raise UsageError(f"query {case.query_id!r} comes without its text: measures at a budget cannot be computed")
    key = ("gold", unit, tuple(text.gold), id(text.rulers))
    if key not in space.memory:
        # The result keeps its rulers alive, so that no other object can take over their identity.
        space.memory[key] = text.rulers, _found(space, text, unit)
    _, (chunks, reading, rows, headers) = cast("tuple[object, _Found]", space.memory[key])
    return GoldChunks(chunks, float(reading.total[0]), _spent(measure, space, text), reading, rows, headers)


class _Found(NamedTuple):
    """The chunks near a query's gold and their contents, in one unit."""

    chunks: tuple[GoldChunk, ...]
    reading: Reading
    rows: list[int]
    headers: list[int]


def _found(space: SearchSpace, text: TextCase, unit: SizeUnit) -> _Found:
    rows = rows_near(space, text.gold)
    shown = [TextSpan(*map(int, space.spans[row])) for row in rows]
    reading = read([TextCase(shown, text.gold, text.rulers)], unit)
    header = space.headers.get(unit)
    headers = [0 if header is None else int(header[row]) for row in rows]
    found = []
    pieces = reading.pieces
    for number, row in enumerate(rows):
        mine = pieces.result == number
        length, is_gold = pieces.length[mine], pieces.is_gold[mine] & (pieces.length[mine] > 0)
        if is_gold.any():
            begins = np.cumsum(length) - length + headers[number]
            cost = int(space.sizes[unit][row]) + headers[number]
            found.append(GoldChunk(int(row), cost, begins[is_gold], length[is_gold]))
    return _Found(tuple(found), reading, rows, headers)


def _spent(measure: CurveMeasure, space: SearchSpace, text: TextCase) -> int:
    """Return the units that a ranking of everything reads within the budget."""
    unit = measure.budget_unit
    everything = int(space.costs(unit).sum())
    if space.overlaps and not measure.charge_duplicates and everything < measure.budget * space.folds:
        whole = read([TextCase([TextSpan(*row) for row in space.spans.tolist()], [], text.rulers)], unit)
        everything = int(whole.free.size[0] + space.headers.get(unit, np.zeros(1)).sum())
    return min(measure.budget, everything)


def rows_near(space: SearchSpace, gold: Iterable[TextSpan]) -> list[int]:
    """Return the rows of the chunks that share a byte with the gold."""
    found: set[int] = set()
    file = space.spans[:, 0]
    for span in gold:
        first, last = np.searchsorted(file, [span.file, span.file + 1])
        part = space.spans[first:last]
        found.update((np.flatnonzero((part[:, 1] < span.end) & (part[:, 2] > span.start)) + first).tolist())
    return sorted(found)
