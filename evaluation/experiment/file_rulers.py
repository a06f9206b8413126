"""The files of a corpus in one unit: the edges of chunks are known, any other place is found by measuring the file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset


@dataclass(frozen=True, slots=True)
class FileRuler:
    """One of the files; hidden units do not count."""

    chunks: ChunkTable
    loaded: LoadedDataset
    unit: SizeUnit
    file: int

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many visible units begin before each offset."""
        file = self.chunks.files[self.file]
        return self._units(offsets) - np.searchsorted(self.loaded.hidden_starts(file, self.unit), offsets)

    def _units(self, offsets: np.ndarray) -> np.ndarray:
        known, counts = self.chunks.edges(self.file, self.unit)
        place = np.searchsorted(known, offsets)
        if len(known) and (known.take(place, mode="clip") == offsets).all():
            return counts[place]
        # Gold begins and ends where no chunk does; reading and counting words of the file takes a while.
        return self.loaded.ruler(self.chunks.files[self.file], self.unit).at(offsets)


@dataclass(frozen=True, slots=True)
class VisibleBytes:
    """One of the files in bytes, without the hidden ones."""

    ranges: np.ndarray

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many visible bytes lie before each offset."""
        if not len(self.ranges):
            return offsets
        lengths = self.ranges[:, 1] - self.ranges[:, 0]
        before = np.concatenate(([0], np.cumsum(lengths)))
        place = np.searchsorted(self.ranges[:, 0], offsets, side="left")
        # The last range that begins before the offset may reach beyond it.
        over = np.maximum(self.ranges[np.maximum(place - 1, 0), 1] - offsets, 0) * (place > 0)
        return np.asarray(offsets - (before[place] - over))


def file_rulers(chunks: ChunkTable, unit: SizeUnit, loaded: LoadedDataset) -> list[FileRuler]:
    """Return a ruler for each file of a chunk table; nothing is read yet."""
    return [FileRuler(chunks, loaded, unit, file) for file in range(len(chunks.files))]


def visible_bytes(chunks: ChunkTable, loaded: LoadedDataset) -> list[VisibleBytes]:
    """Return each file of a chunk table in visible bytes."""
    return [VisibleBytes(loaded.hidden_ranges(file)) for file in chunks.files]
