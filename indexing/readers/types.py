"""The input and output of a reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from chunkers.types import SourceFile


class Stretch(NamedTuple):
    """Half-open bytes of a file, read because of a hit."""

    file: int
    start: int
    end: int
    hit: int
    """Index of the hit in its ranking, from 0: its header is shown above."""


class Corpus(Protocol):
    """The files behind a ranking."""

    def source(self, file: int) -> SourceFile:
        """Return a file."""

    def chunks(self, file: int) -> np.ndarray:
        """Return the file's chunks: rows of start and end, ascending."""


class Reader(Protocol):
    """A frozen keyword-only dataclass that decides what is read for each hit; it adds no hit and changes no rank."""

    version: ClassVar[str]

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return what is read, in order; text that is read twice costs once."""
