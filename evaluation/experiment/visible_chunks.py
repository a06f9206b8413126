"""What of each chunk an index shows: how much, and whether there is anything to find."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, CorpusFile
from evaluation.experiment.loaded_dataset import LoadedDataset


def visible_sizes(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> np.ndarray:
    """Return the size of each chunk without what is hidden."""
    if not loaded.dataset.hidden:
        return chunks.sizes(unit)
    if (loaded.hidden, unit) not in chunks.shown:
        sizes = chunks.sizes(unit).copy()
        for file, rows in _hidden_rows(loaded, chunks):
            sizes[rows] -= _hidden_units(loaded, chunks, file, rows, unit).astype(sizes.dtype)
        chunks.shown[loaded.hidden, unit] = sizes
    return chunks.shown[loaded.hidden, unit]


def _hidden_rows(loaded: LoadedDataset, chunks: ChunkTable) -> Iterator[tuple[CorpusFile, slice]]:
    """Yield the files in which something is hidden, with the rows of their chunks."""
    places = [at for name in loaded.hidden_files if (at := chunks.file_index.get(name)) is not None]
    edges = np.searchsorted(chunks.columns["file"], [[at, at + 1] for at in places]).tolist() if places else []
    for place, (first, last) in zip(places, edges, strict=True):
        yield chunks.files[place], slice(first, last)


def _hidden_units(
    loaded: LoadedDataset, chunks: ChunkTable, file: CorpusFile, rows: slice, unit: SizeUnit
) -> np.ndarray:
    """Return how many units of each of a file's chunks are hidden."""
    starts = loaded.hidden_starts(file, unit)
    ends = np.searchsorted(starts, chunks.columns["end"][rows])
    return np.asarray(ends - np.searchsorted(starts, chunks.columns["start"][rows]))


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
        found, sizes = np.ones(len(chunks), dtype=bool), chunks.sizes("nws")
        for file, rows in _hidden_rows(loaded, chunks):
            # Only where as many bytes are hidden as there are characters is the file looked at.
            if (_hidden_bytes(loaded.hidden_ranges(file), chunks, rows) >= np.maximum(sizes[rows], 1)).any():
                hidden = _hidden_units(loaded, chunks, file, rows, "nws")
                found[rows] = (hidden < sizes[rows]) | (hidden == 0)
        chunks.shown[name] = found
    return chunks.shown[name]


def _hidden_bytes(ranges: np.ndarray, chunks: ChunkTable, rows: slice) -> np.ndarray:
    """Return how many bytes of each chunk lie in the ranges, which are ascending and apart."""
    before = np.concatenate(([0], np.cumsum(ranges[:, 1] - ranges[:, 0])))

    def up_to(offsets: np.ndarray) -> np.ndarray:
        last = np.searchsorted(ranges[:, 0], offsets, side="right")
        inside = np.clip(offsets - ranges[np.maximum(last - 1, 0), 0], 0, np.diff(before)[np.maximum(last - 1, 0)])
        return np.asarray(np.where(last > 0, before[np.maximum(last - 1, 0)] + inside, 0))

    return np.asarray(up_to(chunks.columns["end"][rows]) - up_to(chunks.columns["start"][rows]))
