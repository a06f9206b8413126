"""The texts that an index of each candidate holds: how many there are, and how many of them a race has looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.search_cost import header_tokens
from evaluation.recommend.sampling import FileName, Passages
from evaluation.recommend.within import touching
from indexing.embedding_cache import text_keys


class IndexTexts(NamedTuple):
    """The texts of one candidate on all of the code, as hashes."""

    keys: np.ndarray
    files: np.ndarray
    """The file of each, as an index into ``names``; ascending."""
    starts: np.ndarray
    ends: np.ndarray
    names: tuple[FileName, ...]

    @property
    def distinct(self) -> int:
        """How many different texts there are."""
        return len(np.unique(self.keys))

    def within(self, passages: Passages | None) -> np.ndarray:
        """Return the hashes of the texts that touch the passages; all of them where None."""
        if passages is None:
            return self.keys
        kept = np.zeros(len(self.keys), dtype=bool)
        for file, (_, path) in enumerate(self.names):
            if path in passages.ranges:
                rows = slice(*np.searchsorted(self.files, [file, file + 1]))
                kept[rows] = touching(self.starts[rows], self.ends[rows], passages.ranges[path])
        return np.asarray(self.keys[kept])


def index_texts(loaded: LoadedDataset, table: ChunkTable) -> IndexTexts:
    """Return the texts of a chunk table."""
    keys = text_keys(ChunkTexts(table, range(len(table)), loaded.visible))
    columns = table.columns
    names = tuple((file.repo, file.path) for file in table.files)
    return IndexTexts(keys, columns["file"], columns["start"], columns["end"], names)


def count_distinct(parts: Iterable[np.ndarray]) -> int:
    """Return how many different texts there are in all parts together."""
    found = list(parts)
    return len(np.unique(np.concatenate(found))) if found else 0


def index_tokens(table: ChunkTable) -> int:
    """Return the tokens of all texts of a table, headers included."""
    return int(table.sizes("tokens").sum() + header_tokens(table.headers).sum())
