"""The files of a corpus in one unit: the edges of chunks are known, any other place is found by measuring the file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from chunkers.sizes import Ruler
from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, RulerOf

_BYTES_KEPT = 200_000_000


@dataclass(frozen=True, slots=True)
class FileRuler:
    """One of the files."""

    corpus: _Corpus
    file: int

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many units begin before each offset."""
        known, counts = self.corpus.chunks.edges(self.file, self.corpus.unit)
        place = np.searchsorted(known, offsets)
        if len(known) and (known.take(place, mode="clip") == offsets).all():
            return counts[place]
        # Gold begins and ends where no chunk does; reading and counting words of the file takes a while.
        return self.corpus.measured(self.file).at(offsets)


@dataclass(slots=True)
class _Corpus:
    """What the rulers of all files share; the files that were measured last are kept."""

    chunks: ChunkTable
    unit: SizeUnit
    ruler_of: RulerOf
    kept: dict[int, Ruler] = field(default_factory=dict)
    room: int = _BYTES_KEPT

    def measured(self, file: int) -> Ruler:
        """Return the ruler of the whole file."""
        found = self.kept.pop(file, None)
        if found is None:
            found = self.ruler_of(self.chunks.files[file], self.unit)
            self.room -= found.starts.nbytes
            while self.room < 0 and self.kept:
                self.room += self.kept.pop(next(iter(self.kept))).starts.nbytes
        self.kept[file] = found  # last in the order, so last to go
        return found


def file_rulers(chunks: ChunkTable, unit: SizeUnit, ruler_of: RulerOf) -> list[FileRuler]:
    """Return a ruler for each file of a chunk table; nothing is read yet."""
    corpus = _Corpus(chunks, unit, ruler_of)
    return [FileRuler(corpus, file) for file in range(len(chunks.files))]
