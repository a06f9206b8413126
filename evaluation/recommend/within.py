"""A chunker whose chunks are looked at only where a round searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from chunkers.types import Chunker, Piece, SourceFile
from evaluation.experiment.code import plugin_inputs
from evaluation.recommend.sampling import Passages


@dataclass(frozen=True, kw_only=True)
class Within:
    """Cuts whole files as the chunker inside does, and keeps the chunks that touch the passages."""

    inner: Chunker
    passages: Passages
    what: str
    """All that decides the cuts of the chunker inside: its parameters and its code."""

    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = False
    limit: ClassVar[None] = None

    @classmethod
    def of(cls, inner: Chunker, passages: Passages) -> Within:
        """Return the chunker, kept to the passages."""
        inputs: dict[str, Any] = plugin_inputs(inner)
        return cls(inner=inner, passages=passages, what=repr(sorted(inputs.items())))

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces that touch a passage; a file without any is not cut."""
        ranges = self.passages.ranges.get(source.path)
        if not ranges:
            return []
        pieces = self.inner.split(source)
        edges = np.array([piece[:2] for piece in pieces], dtype=np.int64).reshape(-1, 2)
        kept = touching(edges[:, 0], edges[:, 1], ranges)
        return [piece for piece, keep in zip(pieces, kept, strict=True) if keep]


def touching(starts: np.ndarray, ends: np.ndarray, ranges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return which spans share a byte with one of the ranges, which are ascending and apart."""
    begin, finish = np.array(ranges, dtype=np.int64).T
    first = np.searchsorted(finish, starts, side="right")
    return np.asarray((first < len(begin)) & (begin[np.minimum(first, len(begin) - 1)] < ends))
