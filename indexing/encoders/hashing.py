"""Hashed words instead of a model: for tests and smoke runs only, its numbers say nothing about a chunker."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from chunkers.plugins import positive
from indexing.code_words import code_words
from indexing.encoders.texts import readable, unit_rows
from indexing.types import Vectors


@dataclass(frozen=True, kw_only=True)
class Hashing:
    """Each word adds to or takes from one dimension, chosen by its checksum."""

    version: ClassVar[str] = "1"
    local: ClassVar[bool] = True
    zero_rows: ClassVar[bool] = True
    """A text without words says nothing."""

    dimensions: int = 256

    def __post_init__(self) -> None:
        positive(self, "dimensions")

    @property
    def max_tokens(self) -> int | None:
        """All of a text is seen."""
        return None

    def identity(self) -> Mapping[str, Any]:
        """Return what decides the vectors."""
        return {"encoder": "hashing", "version": self.version, "dimensions": self.dimensions}

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:  # noqa: ARG002 - queries and documents are words alike
        """Return one unit row per text; a text without words is a zero row."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            for word, count in Counter(code_words(readable(text))).items():
                code = zlib.crc32(word.encode())
                row[(code >> 1) % self.dimensions] += (1 + math.log(count)) * (1 if code & 1 else -1)
        return unit_rows(rows)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of words of each text."""
        return [len(code_words(readable(text))) for text in texts]
