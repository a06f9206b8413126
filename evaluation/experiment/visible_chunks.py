"""What of each chunk an index shows: how much, and whether there is anything to find."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset


def visible_sizes(
    loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit, *, files: range | None = None
) -> np.ndarray:
    """Return the size of each chunk without what is hidden; where ``files`` are named, only theirs are looked at."""
    sizes = chunks.sizes(unit)
    if not loaded.dataset.hidden:
        return sizes
    sizes = sizes.copy()
    for repo, path in loaded.hidden_files:
        file = chunks.file_index.get((repo, path))
        if file is not None and (files is None or file in files):
            rows = slice(*np.searchsorted(chunks.columns["file"], [file, file + 1]))
            starts = loaded.hidden_starts(chunks.files[file], unit)
            ends = np.searchsorted(starts, chunks.columns["end"][rows])
            sizes[rows] -= (ends - np.searchsorted(starts, chunks.columns["start"][rows])).astype(sizes.dtype)
    return sizes


def searchable_rows(loaded: LoadedDataset, chunks: ChunkTable) -> Mapping[str, np.ndarray]:
    """Return repository → the rows of its chunks, without those of which all text is hidden."""
    found = _findable(loaded, chunks, range(len(chunks.files)))
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
    found, column = _findable(loaded, chunks, files), chunks.columns["file"]
    repos = ["" if loaded.dataset.scope == "all" else chunks.files[file].repo for file in files]
    starts = [place for place, repo in enumerate(repos) if not place or repo != repos[place - 1]]
    parts = []
    for start, end in itertools.pairwise([*starts, len(repos)]):
        own = files[start:end]
        first, last = np.searchsorted(column, [own.start, own.stop]).tolist()
        parts.append(SpacePart(repos[start], own, first + np.flatnonzero(found[first:last])))
    return parts


def _findable(loaded: LoadedDataset, chunks: ChunkTable, files: range) -> np.ndarray:
    """Return, for the chunks of these files, whether an index shows anything of them."""
    shown = visible_sizes(loaded, chunks, "nws", files=files)
    found: np.ndarray = (shown > 0) | (shown == chunks.sizes("nws"))
    return found
