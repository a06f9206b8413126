"""The part of each chunk visible to an index: its size, and whether there is anything to find."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset


def visible_sizes(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> np.ndarray:
    """Return the size of each chunk without hidden text."""
    if not _hides(loaded):
        return chunks.sizes(unit)
    name = (loaded.hidden, unit)
    if name not in chunks.shown:
        sizes, (before, after) = chunks.sizes(unit), _hidden_before(loaded, chunks, unit)
        chunks.shown[name] = sizes - (after - before).astype(sizes.dtype)
    return chunks.shown[name]


def visible_before(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> np.ndarray:
    """Return how many visible units of its file precede each chunk's start, and its end; not for lines."""
    edges = np.stack(_units_before(loaded, chunks, unit)).astype(np.int64)
    return edges - _hidden_before(loaded, chunks, unit) if _hides(loaded) else edges


def _hides(loaded: LoadedDataset) -> bool:
    return bool(loaded.dataset.hidden) and len(loaded.hidden_edges.ranges) > 0


def _hidden_before(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> np.ndarray:
    """Return how many hidden units of its file precede each chunk's start, and its end."""
    name = (loaded.hidden, f"{unit} before")
    if name not in chunks.shown:
        hidden = loaded.hidden_edges
        units = hidden.units_before(unit, np.arange(len(hidden.files)))
        chunks.shown[name] = _passed(loaded, chunks, units, _units_before(loaded, chunks, unit))
    return chunks.shown[name]


def _passed(loaded: LoadedDataset, chunks: ChunkTable, ranges: np.ndarray, edges: Sequence[np.ndarray]) -> np.ndarray:
    """Return how much of its file is hidden before each chunk's start and end.

    The unit is that of the given edges of the hidden ranges and the chunks.
    """
    first, passed, inside = _passed_ranges(loaded, chunks)
    sums = np.concatenate(([0], np.cumsum(ranges[:, 1] - ranges[:, 0])))
    # Of a range in which a chunk begins or ends, the part after that edge does not count yet.
    behind = np.where(inside, ranges[passed - 1, 1] - np.stack(edges), 0)
    return np.asarray(sums[passed] - sums[first] - behind)


class _Passed(NamedTuple):
    """Where chunk edges fall among the hidden ranges of all files, which are in order."""

    first: np.ndarray
    """The first range of each chunk's file, or of a later one."""
    passed: np.ndarray
    """Ranges that begin before each chunk's start, and before its end."""
    inside: np.ndarray
    """Whether the last of them ends after it."""


def _passed_ranges(loaded: LoadedDataset, chunks: ChunkTable) -> _Passed:
    name = (loaded.hidden, "ranges")
    if name not in chunks.shown:
        hidden, files = loaded.hidden_edges, chunks.columns["file"].astype(np.int64)
        edges = np.stack((chunks.columns["start"], chunks.columns["end"]))
        # One axis through all files: the file number comes first.
        stride = max(edges.max(initial=0), hidden.ranges.max(initial=0)) + 1
        axis = hidden.ranges + stride * np.repeat(hidden.files, hidden.counts)[:, None]
        edges = edges + stride * files
        passed = np.searchsorted(axis[:, 0], edges)
        inside = (passed > 0) & (edges < axis[passed - 1, 1])
        chunks.shown[name] = np.stack((np.searchsorted(axis[:, 0], stride * files), *passed, *inside))
    first, *rest = chunks.shown[name]
    return _Passed(first, np.stack(rest[:2]), np.stack(rest[2:]).astype(bool))


def _units_before(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> Sequence[np.ndarray]:
    """Return the units of its file before each chunk's start and end; for lines, only where something is hidden."""
    columns = chunks.columns
    if unit != "lines":
        return columns[f"{unit}_before"], columns[f"{unit}_before"] + columns[unit]
    found = np.zeros((2, len(chunks)), dtype=np.int64)
    for file in loaded.hidden_edges.files.tolist():
        rows = slice(*np.searchsorted(columns["file"], [file, file + 1]))
        found[:, rows] = loaded.ruler(chunks.files[file], unit).at(
            np.stack((columns["start"][rows], columns["end"][rows]))
        )
    return tuple(found)


def searchable_rows(loaded: LoadedDataset, chunks: ChunkTable) -> Mapping[str, np.ndarray]:
    """Return repository → the rows of its chunks, except those whose text is entirely hidden."""
    found = _findable(loaded, chunks)
    return {
        repo: rows.start + np.flatnonzero(found[rows.start : rows.stop])
        for repo, rows in chunks.repository_rows.items()
    }


class SpacePart(NamedTuple):
    """What some files add to a search space."""

    space: str
    """The repository; empty if all repositories form one space."""
    files: range
    rows: np.ndarray
    """Their searchable chunks."""


def space_parts(loaded: LoadedDataset, chunks: ChunkTable, files: range) -> list[SpacePart]:
    """Return the search spaces that these files belong to, with the rows in each."""
    found, column = _findable(loaded, chunks), chunks.columns["file"]
    repos = ["" if loaded.dataset.scope == "all" else chunks.files[file].repo for file in files]
    starts = [place for place, repo in enumerate(repos) if not place or repo != repos[place - 1]]
    parts = []
    for start, end in itertools.pairwise([*starts, len(repos)]):
        own = files[start:end]
        first, last = np.searchsorted(column, [own.start, own.stop]).tolist()
        parts.append(SpacePart(repos[start], own, first + np.flatnonzero(found[first:last])))
    return parts


def _findable(loaded: LoadedDataset, chunks: ChunkTable) -> np.ndarray:
    """Return for each chunk whether an index shows any of it; a chunk of only white space counts unless hidden."""
    name = (loaded.hidden, "findable")
    if name not in chunks.shown:
        found, sizes, columns = np.ones(len(chunks), dtype=bool), chunks.sizes("nws"), chunks.columns
        if _hides(loaded):
            hidden = loaded.hidden_edges
            before, after = _passed(loaded, chunks, hidden.ranges, (columns["start"], columns["end"]))
            # A file is read only if as many bytes are hidden as there are characters.
            rows = np.flatnonzero(after - before >= np.maximum(sizes, 1))
            files = np.unique(np.searchsorted(hidden.files, columns["file"][rows]))
            units = hidden.units_before("nws", files)
            before, after = _passed(loaded, chunks, units, _units_before(loaded, chunks, "nws"))[:, rows]
            found[rows] = (after - before < sizes[rows]) | (after == before)
        chunks.shown[name] = found
    return chunks.shown[name]
