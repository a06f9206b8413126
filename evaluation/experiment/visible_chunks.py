"""What of each chunk an index shows: how much, and whether there is anything to find."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset


def visible_sizes(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> np.ndarray:
    """Return the size of each chunk without what is hidden."""
    if not _hides(loaded):
        return chunks.sizes(unit)
    if (loaded.hidden, unit) not in chunks.shown:
        sizes, hidden = chunks.sizes(unit), loaded.hidden_edges
        units = hidden.units_before(unit, np.arange(len(hidden.files)))
        chunks.shown[loaded.hidden, unit] = sizes - _hidden_in(
            loaded, chunks, units, _units_before(loaded, chunks, unit)
        ).astype(sizes.dtype)
    return chunks.shown[loaded.hidden, unit]


def _hides(loaded: LoadedDataset) -> bool:
    return bool(loaded.dataset.hidden) and len(loaded.hidden_edges.ranges) > 0


def _hidden_in(
    loaded: LoadedDataset, chunks: ChunkTable, ranges: np.ndarray, edges: Sequence[np.ndarray]
) -> np.ndarray:
    """Return how much of each chunk is hidden, in the unit in which the edges of ranges and of chunks are given."""
    passed, inside = _passed_ranges(loaded, chunks)
    sums = np.concatenate(([0], np.cumsum(ranges[:, 1] - ranges[:, 0])))
    # Of a range in which a chunk begins or ends, what lies behind that edge is not yet passed.
    before = [
        sums[count] - np.where(cut, ranges[count - 1, 1] - edge, 0)
        for count, cut, edge in zip(passed, inside, edges, strict=True)
    ]
    return np.asarray(before[1] - before[0])


def _passed_ranges(loaded: LoadedDataset, chunks: ChunkTable) -> tuple[np.ndarray, np.ndarray]:
    """Return how many hidden ranges begin before each chunk's start and end, and whether the last one ends later."""
    name = (loaded.hidden, "ranges")
    if name not in chunks.shown:
        hidden = loaded.hidden_edges
        edges = np.stack((chunks.columns["start"], chunks.columns["end"]))
        # One axis through all files: a file's number leads.
        stride = max(edges.max(initial=0), hidden.ranges.max(initial=0)) + 1
        axis = hidden.ranges + stride * np.repeat(hidden.files, hidden.counts)[:, None]
        edges = edges + stride * chunks.columns["file"].astype(np.int64)
        passed = np.searchsorted(axis[:, 0], edges)
        chunks.shown[name] = np.stack((passed, (passed > 0) & (edges < axis[passed - 1, 1])))
    passed, inside = chunks.shown[name]
    return passed, inside.astype(bool)


def _units_before(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> Sequence[np.ndarray]:
    """Return the units of its file before each chunk's start and end; of lines, only where something is hidden."""
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
    """Return repository → the rows of its chunks, without those of which all text is hidden."""
    found = _findable(loaded, chunks)
    return {
        repo: rows.start + np.flatnonzero(found[rows.start : rows.stop])
        for repo, rows in chunks.repository_rows.items()
    }


class SpacePart(NamedTuple):
    """What some files add to a search space."""

    space: str
    """The repository; empty where all repositories are one space."""
    files: range
    rows: np.ndarray
    """Their chunks that can be found."""


def space_parts(loaded: LoadedDataset, chunks: ChunkTable, files: range) -> list[SpacePart]:
    """Return which search spaces these files belong to, and with which rows."""
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
    """Return for each chunk whether an index shows anything of it; one of white space alone is found if not hidden."""
    name = (loaded.hidden, "findable")
    if name not in chunks.shown:
        found, sizes, columns = np.ones(len(chunks), dtype=bool), chunks.sizes("nws"), chunks.columns
        if _hides(loaded):
            covered = _hidden_in(loaded, chunks, loaded.hidden_edges.ranges, (columns["start"], columns["end"]))
            # Only where as many bytes are hidden as there are characters is the file looked at.
            rows = np.flatnonzero(covered >= np.maximum(sizes, 1))
            hidden = loaded.hidden_edges
            files = np.unique(np.searchsorted(hidden.files, columns["file"][rows]))
            units = hidden.units_before("nws", files)
            inside = _hidden_in(loaded, chunks, units, _units_before(loaded, chunks, "nws"))[rows]
            found[rows] = (inside < sizes[rows]) | (inside == 0)
        chunks.shown[name] = found
    return chunks.shown[name]
