"""The origin of the rows of a search space, looked up when a retriever asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from evaluation.experiment.chunk_table import ChunkTable
from indexing.types import RowPlace


class RowPlaces(Sequence[RowPlace]):
    """Repository, path, lines and language of some rows of a chunk table."""

    def __init__(self, table: ChunkTable, rows: np.ndarray) -> None:
        self._table, self._rows = table, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> RowPlace: ...
    @overload
    def __getitem__(self, place: slice) -> list[RowPlace]: ...
    def __getitem__(self, place: int | slice) -> RowPlace | list[RowPlace]:
        if isinstance(place, slice):
            return [self._place(int(row)) for row in self._rows[place]]
        return self._place(int(self._rows[place]))

    def _place(self, row: int) -> RowPlace:
        columns = self._table.columns
        file = self._table.files[columns["file"][row]]
        lines = int(columns["start_line"][row]), int(columns["end_line"][row])
        return RowPlace(file.repo, file.path, *lines, file.language)
