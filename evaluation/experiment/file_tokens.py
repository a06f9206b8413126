"""Token offsets of each file, cached by content: counting takes much longer than reading them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chunkers.sizes import Ruler, ruler
from chunkers.types import SourceFile
from evaluation.experiment.packs import Packs

_WIDTHS: tuple[type[np.unsignedinteger[Any]], ...] = (np.uint8, np.uint16, np.uint32)


class TokenCounter:
    """Counts the tokens of files that are not cached."""

    def __init__(self, packs: Packs, names: Sequence[bytes]) -> None:
        self._packs, self._kept = packs, packs.find(names)
        self._fresh: dict[bytes, bytes] = {}

    def count(self, name: bytes, source: SourceFile) -> Ruler:
        """Return a file's ruler, which is not cached in memory: callers that need it twice must keep it."""
        if name in self._kept:
            return ruler_of(self._kept[name])
        made = ruler(source.data, "tokens")
        self._fresh[name] = record_of(made)
        return made

    def save(self) -> None:
        """Store the new counts for later runs."""
        self._packs.add(self._fresh)


def record_of(counted: Ruler) -> bytes:
    """Return a record for `ruler_of`: the distances between tokens, in the smallest type that holds them all."""
    steps = np.diff(counted.starts, prepend=0)
    width = next(number for number, kind in enumerate(_WIDTHS) if steps.max(initial=0) <= np.iinfo(kind).max)
    return bytes([width]) + steps.astype(np.dtype(_WIDTHS[width]).newbyteorder("<")).tobytes()


def ruler_of(record: bytes) -> Ruler:
    """Read a record of `record_of`."""
    steps = np.frombuffer(record, dtype=np.dtype(_WIDTHS[record[0]]).newbyteorder("<"), offset=1)
    return Ruler(np.cumsum(steps, dtype=np.int64))
