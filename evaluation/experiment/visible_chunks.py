"""What of each chunk an index shows: how much, and whether there is anything to find."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset


def visible_sizes(loaded: LoadedDataset, chunks: ChunkTable, unit: SizeUnit) -> np.ndarray:
    """Return the size of each chunk without what is hidden."""
    sizes = chunks.sizes(unit)
    if not loaded.dataset.hidden:
        return sizes
    sizes = sizes.copy()
    for repo, path in loaded.hidden_files:
        file = chunks.file_index.get((repo, path))
        if file is not None:
            rows = slice(*np.searchsorted(chunks.columns["file"], [file, file + 1]))
            starts = loaded.hidden_starts(chunks.files[file], unit)
            ends = np.searchsorted(starts, chunks.columns["end"][rows])
            sizes[rows] -= (ends - np.searchsorted(starts, chunks.columns["start"][rows])).astype(sizes.dtype)
    return sizes


def searchable_rows(loaded: LoadedDataset, chunks: ChunkTable) -> Mapping[str, np.ndarray]:
    """Return repository → the rows of its chunks, without those of which all text is hidden."""
    shown = visible_sizes(loaded, chunks, "nws")
    found = (shown > 0) | (shown == chunks.sizes("nws"))
    return {
        repo: rows.start + np.flatnonzero(found[rows.start : rows.stop])
        for repo, rows in chunks.repository_rows.items()
    }
