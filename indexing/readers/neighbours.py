"""`neighbours`: each hit with the chunks before and after it (small-to-big, sentence window)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from chunkers.errors import UsageError
from indexing.readers.types import Corpus, Stretch


@dataclass(frozen=True, kw_only=True)
class NeighbourReader:
    """Reads from the start of the n-th chunk before a hit to the end of the n-th after it, in the same file."""

    chunks: int = 1

    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.chunks < 1:
            raise UsageError(f"chunks must be at least 1, not {self.chunks}")

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return the hits with their neighbours."""
        return [self._wider(hit, corpus.chunks(hit.file)) for hit in hits]

    def _wider(self, hit: Stretch, chunks: np.ndarray) -> Stretch:
        place = int(np.flatnonzero((chunks[:, 0] == hit.start) & (chunks[:, 1] == hit.end))[0])
        near = chunks[max(0, place - self.chunks) : place + self.chunks + 1]
        return hit._replace(start=int(near[:, 0].min()), end=int(near[:, 1].max()))
