"""The words of one file's chunks: they depend on the file, its cuts and what is hidden in it, and are kept as long.

Whichever chunker made the cuts: a file that several leave whole is counted once.
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
from evaluation.experiment.loaded_dataset import KnownFile, LoadedDataset
from evaluation.experiment.packs import Packs
from evaluation.experiment.visible_chunks import SpacePart
from indexing.word_columns import AskedWords, asked_words, to_record
from indexing.word_counts import WordCounter
from indexing.word_names import WordNames

_SECONDS = struct.Struct("<d")
_KEPT = 64 * 2**20
"""Bytes of what was counted last that stay at hand: counting and searching ask for the same files."""


class CountedPart(NamedTuple):
    """The words of what some files add to a search space, and what counting them took when it was done."""

    asked: AskedWords
    seconds: float


@dataclass(frozen=True)
class FileWords:
    """Counts the words of chunks; files that were counted before, in any run, are not read."""

    packs: Packs
    _counter: WordCounter = field(default_factory=WordCounter)
    _names: WordNames = field(default_factory=WordNames)
    _lately: dict[bytes, CountedPart] = field(default_factory=dict)

    def counted(self, loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart, words: Sequence[str]) -> CountedPart:
        """Return what the part's chunks hold of these words."""
        known = loaded.files[part.files.start : part.files.stop]
        cuts = list(_rows_by_file(chunks, part))
        names = [_key(loaded, chunks, *each) for each in zip(known, cuts, strict=True)]
        name = hashlib.sha256(b"".join(names) + "\n".join(words).encode("utf-8", "surrogatepass")).digest()
        if name not in self._lately:
            self._keep(name, self._count(loaded, chunks, names, cuts, words))
        return self._lately[name]

    def uncounted(self, loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart) -> int:
        """Return the bytes of the files whose words are yet to be counted."""
        known = loaded.files[part.files.start : part.files.stop]
        names = [_key(loaded, chunks, *each) for each in zip(known, _rows_by_file(chunks, part), strict=True)]
        there = self.packs.holds(names)
        return sum(each.size for each, found in zip(known, there, strict=True) if not found)

    def _count(
        self,
        loaded: LoadedDataset,
        chunks: ChunkTable,
        names: Sequence[bytes],
        cuts: Sequence[np.ndarray],
        words: Sequence[str],
    ) -> CountedPart:
        stored = self.packs.find(names)
        fresh: dict[bytes, bytes] = {}
        records = []
        for name, rows in zip(names, cuts, strict=True):
            record = stored.get(name) or fresh.get(name)
            if record is None:
                began = time.perf_counter()
                counts = self._counter.count(ChunkTexts(chunks, rows, loaded))
                made = to_record(counts, self._names)
                record = fresh[name] = _SECONDS.pack(time.perf_counter() - began) + made
            records.append(record)
        self.packs.add(fresh)
        seconds = sum(_SECONDS.unpack_from(record)[0] for record in records)
        return CountedPart(asked_words([record[_SECONDS.size :] for record in records], words, self._names), seconds)

    def _keep(self, name: bytes, counted: CountedPart) -> None:
        self._lately[name] = counted
        while len(self._lately) > 1 and sum(each.asked.shard.nbytes for each in self._lately.values()) > _KEPT:
            del self._lately[next(iter(self._lately))]


def _rows_by_file(chunks: ChunkTable, part: SpacePart) -> Iterator[np.ndarray]:
    edges = np.searchsorted(chunks.columns["file"][part.rows], np.arange(part.files.start, part.files.stop + 1))
    for start, end in itertools.pairwise(edges):
        yield part.rows[start:end]


def _key(loaded: LoadedDataset, chunks: ChunkTable, known: KnownFile, rows: np.ndarray) -> bytes:
    digest = hashlib.sha256(known.key)
    for spans in (loaded.hidden_ranges(known.file), chunks.columns["start"][rows], chunks.columns["end"][rows]):
        digest.update(len(spans).to_bytes(8, "little") + spans.astype("<i8").tobytes())
    digest.update("\0".join([chunks.header(row, loaded) for row in rows.tolist()]).encode("utf-8", "surrogateescape"))
    return digest.digest()[: len(known.key)]
