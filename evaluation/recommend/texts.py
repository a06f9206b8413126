"""The texts in the index of each candidate, and which of them touch some passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.header_cost import header_tokens
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.recommend.sampling import Passages
from evaluation.recommend.within import touching
from indexing.embedding_cache import text_keys


class IndexTexts(NamedTuple):
    """The texts of one candidate on all of the code."""

    keys: np.ndarray
    """Hashes, or numbers that stand for them."""
    starts: np.ndarray
    """In bytes, on one axis of all paths."""
    ends: np.ndarray

    def within(self, ranges: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return the keys of the texts that touch some ranges, which are ascending and disjoint."""
        return self.keys[touching(self.starts, self.ends, ranges)] if ranges else self.keys[:0]


def layout(loaded: LoadedDataset) -> dict[str, int]:
    """Return where each path begins on one axis; files with the same path share their place."""
    lengths: dict[str, int] = {}
    for repository in loaded.dataset.repositories:
        for source in repository.files():
            lengths[source.path] = max(lengths.get(source.path, 0), len(source.data) + 1)
    ends = np.cumsum([0, *lengths.values()]).tolist()
    return dict(zip(lengths, ends, strict=False))


def ranges_of(passages: Passages, begins: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return the passages' ranges on one axis of all paths."""
    return sorted(
        (begins[path] + start, begins[path] + end) for path, held in passages.ranges.items() for start, end in held
    )


def index_texts(loaded: LoadedDataset, table: ChunkTable, begins: Mapping[str, int]) -> IndexTexts:
    """Return the texts of a chunk table."""
    keys = text_keys(ChunkTexts(table, range(len(table)), loaded))
    columns = table.columns
    first = np.array([begins[file.path] for file in table.files], dtype=np.int64)[columns["file"]]
    return IndexTexts(keys, first + columns["start"], first + columns["end"])


def numbered(texts: Iterable[IndexTexts]) -> list[IndexTexts]:
    """Return the same texts with numbers from 0 as keys, equal texts having equal numbers."""
    found = list(texts)
    if not found:
        return []
    _, numbers = np.unique(np.concatenate([each.keys for each in found]), return_inverse=True)
    ends = np.cumsum([len(each.keys) for each in found])[:-1]
    return [each._replace(keys=part) for each, part in zip(found, np.split(numbers, ends), strict=True)]


def index_tokens(table: ChunkTable) -> int:
    """Return the tokens of all texts of a table, including headers."""
    return int(table.sizes("tokens").sum() + header_tokens(table.headers).sum())
