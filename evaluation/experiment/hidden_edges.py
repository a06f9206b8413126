"""The hidden ranges of a corpus on one axis of files, and the units of the file before each range.

Together with the units before the chunk's own edges, which the chunk table has, these give the hidden units of a
chunk: no file is read for that once its ranges were measured, in this run or an earlier one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.file_tokens import ruler_of

if TYPE_CHECKING:
    from evaluation.experiment.loaded_dataset import LoadedDataset

_FILES_AT_ONCE = 1_000
"""Files whose tokens are in memory at the same time."""


@dataclass(frozen=True)
class HiddenEdges:
    """The hidden ranges of all files of a dataset, in file order."""

    loaded: LoadedDataset
    files: np.ndarray
    """Indices of the files with hidden text, ascending."""
    counts: np.ndarray
    """Number of ranges in each of them."""
    ranges: np.ndarray
    """One row per range: its first byte, and the one after its last."""
    _units: dict[SizeUnit, np.ndarray] = field(default_factory=dict)

    def units_before(self, unit: SizeUnit, files: np.ndarray) -> np.ndarray:
        """Return the units before both edges of each range, at least for these indices of `files`; others may be -1."""
        made = self._units.setdefault(unit, np.full(self.ranges.shape, -1, dtype=np.int64))
        firsts = np.cumsum(self.counts) - self.counts
        new = files[made[firsts[files], 0] < 0]
        for start in range(0, len(new), _FILES_AT_ONCE):
            some = new[start : start + _FILES_AT_ONCE]
            rows = np.repeat(firsts[some], self.counts[some])
            rows += np.arange(len(rows)) - np.repeat(
                np.cumsum(self.counts[some]) - self.counts[some], self.counts[some]
            )
            made[rows] = np.frombuffer(b"".join(self._measured(unit, some.tolist())), "<i8").reshape(-1, 2)
        return made

    def _measured(self, unit: SizeUnit, files: Sequence[int]) -> Iterator[bytes]:
        """Yield the units before the edges of each file's ranges, from the cache or counted now."""
        loaded, kept = self.loaded, self.loaded.tokens
        known = [loaded.files[place] for place in self.files[files].tolist()]
        ranges = [loaded.hidden_ranges(each.file) for each in known]
        names = [_name(unit, *each) for each in zip((each.key for each in known), ranges, strict=True)]
        found: Mapping[bytes, bytes] = kept.find(names) if kept else {}
        lacking = [place for place, name in enumerate(names) if name not in found]
        tokens = kept.find([known[place].key for place in lacking]) if kept and unit == "tokens" else {}
        fresh: dict[bytes, bytes] = {}
        for place in lacking:
            record = tokens.get(known[place].key)
            ruler = ruler_of(record) if record else loaded.ruler(known[place].file, unit)
            fresh[names[place]] = ruler.at(ranges[place]).astype("<i8").tobytes()
        if kept:
            kept.add(fresh)
        return (found.get(name) or fresh[name] for name in names)


def hidden_edges(loaded: LoadedDataset) -> HiddenEdges:
    """Return where text is hidden in the files of a dataset; nothing is measured yet."""
    ranges = [loaded.hidden_ranges(known.file) for known in loaded.files]
    counts = np.array([len(each) for each in ranges], dtype=np.int64)
    files = np.flatnonzero(counts)
    return HiddenEdges(loaded, files, counts[files], np.concatenate([np.zeros((0, 2), dtype=np.int64), *ranges]))


def _name(unit: SizeUnit, file: bytes, ranges: np.ndarray) -> bytes:
    return hashlib.sha256(f"{unit}\0".encode() + file + ranges.astype("<i8").tobytes()).digest()[: len(file)]
