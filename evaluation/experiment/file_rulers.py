"""The files of a corpus in one unit: the edges of chunks are known, any other place is found by measuring the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from chunkers.sizes import Ruler, ruler
from chunkers.types import SizeUnit
from evaluation.experiment.corpus_chunks import CorpusChunks, FileKey

_BYTES_KEPT = 200_000_000


@dataclass(frozen=True, slots=True)
class FileRuler:
    """One of the files."""

    of: FileRulers
    file: int

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many units begin before each offset."""
        known, counts = self.of.edges(self.file)
        place = np.searchsorted(known, offsets)
        if len(known) and (known.take(place, mode="clip") == offsets).all():
            return counts[place]
        # Gold begins and ends where no chunk does; reading and counting words of the file takes a while.
        return self.of.measured(self.file).at(offsets)


class FileRulers(Sequence[FileRuler]):
    """A ruler for each file of a chunk table; the measured ones that were last used are kept."""

    def __init__(self, chunks: CorpusChunks, unit: SizeUnit, read: Callable[[FileKey], bytes]) -> None:
        self._chunks, self._unit, self._read = chunks, unit, read
        self._kept: dict[int, Ruler] = {}
        self._room = _BYTES_KEPT

    def __len__(self) -> int:
        return len(self._chunks.files)

    @overload
    def __getitem__(self, index: int) -> FileRuler: ...
    @overload
    def __getitem__(self, index: slice) -> list[FileRuler]: ...
    def __getitem__(self, index: int | slice) -> FileRuler | list[FileRuler]:
        if isinstance(index, slice):
            return [FileRuler(self, each) for each in range(len(self))[index]]
        return FileRuler(self, range(len(self))[index])

    def edges(self, file: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the offsets at which the file's chunks begin or end, ascending, and the units before each."""
        return self._chunks.edges(file, self._unit)

    def measured(self, file: int) -> Ruler:
        """Return the ruler of the whole file."""
        found = self._kept.pop(file, None)
        if found is None:
            found = ruler(self._read(self._chunks.files[file]), self._unit)
            self._room -= found.starts.nbytes
            while self._room < 0 and self._kept:
                self._room += self._kept.pop(next(iter(self._kept))).starts.nbytes
        self._kept[file] = found  # last in the order, so last to go
        return found
