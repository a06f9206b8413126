"""A chunker that cuts only where a round needs it; elsewhere it keeps another one's chunks, already indexed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from chunkers.types import Chunker, Piece, SourceFile
from evaluation.experiment.code import plugin_inputs
from evaluation.recommend.sampling import Passages


@dataclass(frozen=True, kw_only=True)
class Within:
    """Cuts like the inner chunker where there are passages, and everywhere else like another one."""

    inner: Chunker
    around: Chunker
    passages: Passages
    what: str
    """Everything that determines the cuts of the two chunkers: their parameters and their code."""

    version: ClassVar[str] = "2"
    lossless: ClassVar[bool] = False
    limit: ClassVar[None] = None

    @classmethod
    def of(cls, inner: Chunker, passages: Passages, *, around: Chunker) -> Within:
        """Return the chunker, restricted to the passages, with another one around them."""
        inputs = [sorted(plugin_inputs(each).items()) for each in (inner, around)]
        return cls(inner=inner, around=around, passages=passages, what=repr(inputs))

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces that touch a passage, and those of the other chunker that touch none."""
        ranges = self.passages.ranges.get(source.path)
        around = self.around.split(source)
        if not ranges:
            return around
        inner = self.inner.split(source)
        kept = [
            *itertools.compress(inner, _touching(inner, ranges)),
            *itertools.compress(around, ~_touching(around, ranges)),
        ]
        return sorted(kept, key=lambda piece: piece[:2])


def _touching(pieces: Sequence[Piece], ranges: Sequence[tuple[int, int]]) -> np.ndarray:
    edges = np.array([piece[:2] for piece in pieces], dtype=np.int64).reshape(-1, 2)
    return touching(edges[:, 0], edges[:, 1], ranges)


def touching(starts: np.ndarray, ends: np.ndarray, ranges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return which spans share a byte with one of the ranges, which are ascending and disjoint."""
    begin, finish = np.array(ranges, dtype=np.int64).T
    first = np.searchsorted(finish, starts, side="right")
    return np.asarray((first < len(begin)) & (begin[np.minimum(first, len(begin) - 1)] < ends))
