"""Cells that differ in one axis and agree in the others: what can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from evaluation.results.types import CellRecord
from evaluation.types import CellKey

Axis = Literal["chunker", "embedder", "retriever"]
AXES: tuple[Axis, ...] = ("chunker", "embedder", "retriever")


class Alternatives(NamedTuple):
    """Finished cells that differ in one axis only."""

    axis: Axis
    setting: CellKey
    """What they agree in; the axis itself is empty."""
    cells: tuple[CellRecord, ...]

    @property
    def names(self) -> list[str]:
        """What each is called: its spec on the axis."""
        return [getattr(cell.key, self.axis) for cell in self.cells]


def alternatives(cells: Iterable[CellRecord], axes: Iterable[Axis] = AXES) -> Iterator[Alternatives]:
    """Yield every group of two or more finished cells that differ in one of the axes, in the order of the cells."""
    finished = [cell for cell in cells if cell.status == "ok"]
    for axis in axes:
        groups: dict[CellKey, list[CellRecord]] = {}
        for cell in finished:
            groups.setdefault(cell.key._replace(**{axis: ""}), []).append(cell)
        for setting, found in groups.items():
            if len(found) > 1:
                yield Alternatives(axis, setting, tuple(found))
