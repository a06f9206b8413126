"""The words of one file's chunks, cached by the file, its cuts and what is hidden in it.

The chunker does not matter: a file that several chunkers leave whole is counted once.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.packs import Packs
from evaluation.experiment.visible_chunks import SpacePart
from indexing.word_columns import AskedWords, asked_words, to_record
from indexing.word_counts import WordCounter
from indexing.word_names import WordNames

_SECONDS, _COUNT = struct.Struct("<d"), struct.Struct("<q")
_KEPT = 128 * 2**20
"""Bytes of recent counts held in memory: counting and searching use the same files."""


class CountedPart(NamedTuple):
    """The words that some files add to a search space, and the cost of counting them when that was done."""

    asked: AskedWords
    seconds: float


@dataclass(frozen=True)
class FileWords:
    """Counts the words of chunks; files counted before, in any run, are not read."""

    packs: Packs
    _counter: WordCounter = field(default_factory=WordCounter)
    _names: WordNames = field(default_factory=WordNames)
    _lately: dict[bytes, CountedPart] = field(default_factory=dict)

    def counted(self, loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart, words: Sequence[str]) -> CountedPart:
        """Return how often the part's chunks contain these words."""
        names = _names(loaded, chunks, part)
        name = hashlib.sha256(b"".join(names) + "\n".join(words).encode("utf-8", "surrogatepass")).digest()
        found = self._lately.get(name)
        if found is None:
            found = self._count(loaded, chunks, part, names, words)
            self._keep(name, found)
        return found

    def uncounted(self, loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart) -> int:
        """Return the bytes of the files whose words have not been counted."""
        there = self.packs.holds(_names(loaded, chunks, part))
        return sum(loaded.files[part.files[place]].size for place in np.flatnonzero(~there).tolist())

    def _count(
        self,
        loaded: LoadedDataset,
        chunks: ChunkTable,
        part: SpacePart,
        names: Sequence[bytes],
        words: Sequence[str],
    ) -> CountedPart:
        stored = self.packs.find(names)
        fresh: dict[bytes, bytes] = {}
        edges = _edges(chunks, part)
        for place, name in enumerate(names):
            if name not in stored and name not in fresh:
                began = time.perf_counter()
                rows = part.rows[edges[place] : edges[place + 1]]
                made = to_record(self._counter.count(ChunkTexts(chunks, rows, loaded)), self._names)
                fresh[name] = _SECONDS.pack(time.perf_counter() - began) + made
        self.packs.add(fresh)
        records = [stored.get(name) or fresh[name] for name in names]
        seconds = sum(_SECONDS.unpack_from(record)[0] for record in records)
        return CountedPart(asked_words([record[_SECONDS.size :] for record in records], words, self._names), seconds)

    def _keep(self, name: bytes, counted: CountedPart) -> None:
        self._lately[name] = counted
        while len(self._lately) > 1 and sum(each.asked.shard.nbytes for each in self._lately.values()) > _KEPT:
            del self._lately[next(iter(self._lately))]


def _edges(chunks: ChunkTable, part: SpacePart) -> list[int]:
    """Return where the rows of each of the part's files begin, and where those of the last one end."""
    files = np.arange(part.files.start, part.files.stop + 1)
    return list(np.searchsorted(chunks.columns["file"][part.rows], files).tolist())


def _names(loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart) -> list[bytes]:
    """Return what determines the words of each of the part's files: its content, cuts, headers and hidden text.

    Computed once per table, which is both counted and searched.
    """
    made = chunks.shown.setdefault((loaded.hidden, "words"), np.full(len(chunks.files), None))
    own = made[part.files.start : part.files.stop]
    if not all(own):
        own[:] = list(_digests(loaded, chunks, part))
    return list(own)


def _digests(loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart) -> Iterator[bytes]:
    starts, ends = (chunks.columns[name][part.rows].astype("<i8").tobytes() for name in ("start", "end"))
    known = loaded.files[part.files.start : part.files.stop]
    for each, (first, last) in zip(known, itertools.pairwise(_edges(chunks, part)), strict=True):
        hidden = loaded.hidden_ranges(each.file)
        count, cut = _COUNT.pack(last - first), slice(first * _COUNT.size, last * _COUNT.size)
        headers = [""] * (last - first)
        if chunks.has_headers:
            headers = [chunks.header(row, loaded) for row in part.rows[first:last].tolist()]
        told = (
            *(each.key, _COUNT.pack(len(hidden)), hidden.astype("<i8").tobytes(), count, starts[cut], count, ends[cut]),
            "\0".join(headers).encode("utf-8", "surrogateescape"),
        )
        yield hashlib.sha256(b"".join(told)).digest()[: len(each.key)]
