"""What a chunker's pieces lose from a file, and what they duplicate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from chunkers.sizes import nws_before
from chunkers.types import Chunker, Piece, SourceFile


class Coverage(NamedTuple):
    """Non-whitespace characters of one file or, added up, of several."""

    total: int
    lost: int
    """In no piece."""
    doubled: int
    """In a piece after the first one that holds them: a character in three pieces counts twice."""

    @property
    def kept_share(self) -> float:
        """The share of characters held by some piece; 1 for an empty file."""
        return 1 - self.lost / self.total if self.total else 1.0

    @property
    def doubled_share(self) -> float:
        """Duplicated characters, as a share of the file."""
        return self.doubled / self.total if self.total else 0.0


def coverage(data: bytes, pieces: Sequence[Piece]) -> Coverage:
    """Return what the pieces of a file, in any order, lose and duplicate."""
    if len(pieces) == 1 and pieces[0][:2] == (0, len(data)):
        return Coverage(nws_before(data)[len(data)], 0, 0)
    counts = np.asarray(nws_before(data))
    spans = np.array([piece[:2] for piece in pieces], dtype=np.int64).reshape(-1, 2)
    ordered = counts[spans[np.argsort(spans[:, 0], kind="stable")]].astype(np.int64)
    reached = np.maximum.accumulate(np.concatenate(([0], ordered[:, 1])))
    new = np.maximum(ordered[:, 1] - np.maximum(ordered[:, 0], reached[:-1]), 0)
    held, once = int((ordered[:, 1] - ordered[:, 0]).sum()), int(new.sum())
    return Coverage(int(counts[-1]), int(counts[-1]) - once, held - once)


def coverage_of(chunker: Chunker, source: SourceFile, pieces: Sequence[Piece]) -> Coverage:
    """Return what a chunker's pieces of a file lose and duplicate.

    A chunker whose chunks hold less than their spans (it drops text between syntax nodes) declares it with a method
    ``held(source)``, which returns the spans of what it does hold.
    """
    held = getattr(chunker, "held", None)
    return coverage(source.data, pieces if held is None else held(source))


def total(parts: Iterable[Coverage]) -> Coverage:
    """Return the sum over files."""
    rows = list(parts)
    return Coverage(sum(r.total for r in rows), sum(r.lost for r in rows), sum(r.doubled for r in rows))
