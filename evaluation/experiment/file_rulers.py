"""The files of a corpus measured in one unit: chunk edges are known, any other place needs the file itself."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.visible_chunks import visible_before


@dataclass(frozen=True)
class EdgeUnits:
    """The number of visible units before each chunk edge, over all files; computed on first use."""

    chunks: ChunkTable
    loaded: LoadedDataset
    unit: SizeUnit

    def at(self, file: int, offsets: np.ndarray) -> np.ndarray | None:
        """Return how many visible units begin before each offset of a file; None unless all offsets are chunk edges."""
        if self.unit == "lines":
            return None
        edges, counts, firsts = self._by_file
        own = slice(firsts[file], firsts[file + 1])
        place = edges[own].searchsorted(offsets)
        known = firsts[file] < firsts[file + 1] and bool((edges[own].take(place, mode="clip") == offsets).all())
        return counts[own].take(place) if known else None

    @functools.cached_property
    def _by_file(self) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """Edges in ascending order per file, the visible units before each, and the index of each file's first edge."""
        columns = self.chunks.columns
        files = np.tile(columns["file"].astype(np.int64), 2)
        edges = np.concatenate((columns["start"], columns["end"]))
        order = np.argsort(files * (edges.max(initial=0) + 1) + edges)
        firsts = np.searchsorted(files[order], np.arange(len(self.chunks.files) + 1)).tolist()
        return edges[order], visible_before(self.loaded, self.chunks, self.unit).ravel()[order], firsts


@dataclass(frozen=True, slots=True)
class FileRuler:
    """One of the files; hidden units do not count."""

    edges: EdgeUnits
    file: int

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many visible units begin before each offset."""
        known = self.edges.at(self.file, offsets)
        if known is not None:
            return known
        # Gold begins and ends where no chunk does; reading the file and counting its words takes a while.
        loaded, unit, file = self.edges.loaded, self.edges.unit, self.edges.chunks.files[self.file]
        return loaded.ruler(file, unit).at(offsets) - np.searchsorted(loaded.hidden_starts(file, unit), offsets)


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
        # The last range that begins before the offset may extend beyond it.
        over = np.maximum(self.ranges[np.maximum(place - 1, 0), 1] - offsets, 0) * (place > 0)
        return np.asarray(offsets - (before[place] - over))


def file_rulers(chunks: ChunkTable, unit: SizeUnit, loaded: LoadedDataset) -> list[FileRuler]:
    """Return a ruler for each file of a chunk table; nothing is read yet."""
    edges = EdgeUnits(chunks, loaded, unit)
    return [FileRuler(edges, file) for file in range(len(chunks.files))]


def visible_bytes(chunks: ChunkTable, loaded: LoadedDataset) -> list[VisibleBytes]:
    """Return each file of a chunk table in visible bytes."""
    return [VisibleBytes(loaded.hidden_ranges(file)) for file in chunks.files]
