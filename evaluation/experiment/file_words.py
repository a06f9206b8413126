"""The words of one file's chunks: they depend on the file, its cuts and what is hidden in it, and are kept as long.

Whichever chunker made the cuts: a file that several leave whole is counted once.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.loaded_dataset import KnownFile, LoadedDataset
from evaluation.experiment.packs import Packs
from evaluation.experiment.visible_chunks import SpacePart
from indexing.word_counts import WordCounter, WordCounts, join_counts

_SECONDS = struct.Struct("<d")


class CountedPart(NamedTuple):
    """The words of what some files add to a search space, and what counting them took when it was done."""

    counts: WordCounts
    seconds: float


def counted_words(packs: Packs, loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart) -> CountedPart:
    """Return the words of the part's chunks; files that were counted before, in any run, are not read."""
    known = loaded.files[part.files.start : part.files.stop]
    cuts = list(_rows_by_file(chunks, part))
    names = [_key(loaded, chunks, *each) for each in zip(known, cuts, strict=True)]
    stored = packs.find(names)
    fresh: dict[bytes, bytes] = {}
    counter = WordCounter()
    records = []
    for name, rows in zip(names, cuts, strict=True):
        record = stored.get(name)
        if record is None:
            began = time.perf_counter()
            counted = counter.count(ChunkTexts(chunks, rows, loaded.visible)).to_bytes()
            record = fresh[name] = _SECONDS.pack(time.perf_counter() - began) + counted
        records.append(record)
    packs.add(fresh)
    seconds = sum(_SECONDS.unpack_from(record)[0] for record in records)
    return CountedPart(join_counts([WordCounts.from_bytes(record[_SECONDS.size :]) for record in records]), seconds)


def _rows_by_file(chunks: ChunkTable, part: SpacePart) -> Iterator[np.ndarray]:
    edges = np.searchsorted(chunks.columns["file"][part.rows], np.arange(part.files.start, part.files.stop + 1))
    for start, end in itertools.pairwise(edges):
        yield part.rows[start:end]


def _key(loaded: LoadedDataset, chunks: ChunkTable, known: KnownFile, rows: np.ndarray) -> bytes:
    digest = hashlib.sha256(known.key)
    for spans in (loaded.hidden_ranges(known.file), chunks.columns["start"][rows], chunks.columns["end"][rows]):
        digest.update(len(spans).to_bytes(8, "little") + spans.astype("<i8").tobytes())
    digest.update("\0".join([chunks.headers[row] for row in rows.tolist()]).encode("utf-8", "surrogateescape"))
    return digest.digest()[: len(known.key)]
