"""`chunk`: the retrieved chunk itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from indexing.readers.types import Corpus, Stretch


@dataclass(frozen=True, kw_only=True)
class ChunkReader:
    """Reads each hit as it is."""

    version: ClassVar[str] = "1"

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:  # noqa: ARG002 - as every reader
        """Return the hits."""
        return list(hits)
