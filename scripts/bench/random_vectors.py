"""Random vectors with a model's dimensions: for the time and memory of searching them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from indexing.embedding_cache import text_key
from indexing.encoders.texts import unit_rows
from indexing.types import Vectors


@dataclass(frozen=True, kw_only=True)
class RandomVectors:
    """A random direction for each text, the same for equal texts."""

    version: ClassVar[str] = "1"

    dimensions: int = 384

    @property
    def max_tokens(self) -> int | None:
        """The whole text is seen."""
        return None

    def identity(self) -> Mapping[str, Any]:
        """Return what determines the vectors."""
        return {"encoder": "random", "version": self.version, "dimensions": self.dimensions}

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:  # noqa: ARG002 - queries and documents alike
        """Return one unit row per text."""
        rows = np.empty((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            row[:] = np.random.default_rng(int.from_bytes(text_key(text), "little")).standard_normal(self.dimensions)
        return unit_rows(rows)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the characters of each text: there are no tokens."""
        return [len(text) for text in texts]
