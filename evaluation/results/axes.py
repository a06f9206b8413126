"""Cells that differ in one axis and agree in the others: what can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from evaluation.results.types import CellRecord
from evaluation.types import CellKey

Axis = Literal["chunker", "embedder", "retriever"]
AXES: tuple[Axis, ...] = ("chunker", "embedder", "retriever")


class Alternatives(NamedTuple):
    """Finished cells that differ only in one axis."""

    axis: Axis
    setting: CellKey
    """The values they share; empty on the axis itself."""
    cells: tuple[CellRecord, ...]

    @property
    def names(self) -> list[str]:
        """The name of each: its spec on the axis."""
        return [getattr(cell.key, self.axis) for cell in self.cells]


def alternatives(cells: Iterable[CellRecord], axes: Iterable[Axis] = AXES) -> Iterator[Alternatives]:
    """Yield every group of two or more finished cells that differ in one of the axes, in the order of the cells.

    A span run has no embedder and no retriever to hold constant: it is compared with the chunkers of every setting of
    its dataset, and only with other span runs if there is no such setting. A retriever without vectors is compared with
    those of every embedder.
    """
    finished = list(_distinct(cells))
    order = {cell.key: place for place, cell in enumerate(finished)}
    span_runs = [cell for cell in finished if cell.key.is_span_run]
    for axis in axes:
        groups: dict[CellKey, list[CellRecord]] = {}
        for cell in finished:
            if not cell.key.is_span_run and (axis != "retriever" or cell.search.uses_vectors):
                groups.setdefault(cell.key._replace(**{axis: ""}), []).append(cell)
        if axis == "retriever":
            _add_lexical(groups, [cell for cell in finished if not (cell.key.is_span_run or cell.search.uses_vectors)])
        if axis == "chunker":
            settings = {dataset: [key for key in groups if key.dataset == dataset] for dataset, *_ in groups}
            for cell in span_runs:
                for setting in settings.get(cell.key.dataset) or [cell.key._replace(chunker="")]:
                    groups.setdefault(setting, []).append(cell)
        for setting, found in groups.items():
            if len(found) > 1:
                yield Alternatives(axis, setting, tuple(sorted(found, key=lambda cell: order[cell.key])))


def _add_lexical(groups: dict[CellKey, list[CellRecord]], cells: Iterable[CellRecord]) -> None:
    """Add retrievers without vectors to the groups of their dataset and chunker, whatever the embedder."""
    vectors = list(groups)
    for cell in cells:
        own = cell.key._replace(retriever="")
        for setting in [each for each in vectors if each._replace(embedder="") == own._replace(embedder="")] or [own]:
            groups.setdefault(setting, []).append(cell)


def _distinct(cells: Iterable[CellRecord]) -> Iterator[CellRecord]:
    """Yield the finished cells, only the first of those that differ in an unused embedder."""
    seen = set()
    for cell in cells:
        same = cell.key if cell.search.uses_vectors else cell.key._replace(embedder="")
        if cell.status == "ok" and same not in seen:
            seen.add(same)
            yield cell
