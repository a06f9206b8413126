"""`whole-file`: each file is one chunk, the upper bound of what a chunk can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkers.types import Piece, SourceFile


@dataclass(frozen=True, kw_only=True)
class WholeFile:
    """Cuts nothing."""

    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True

    @property
    def limit(self) -> None:
        """A file may have any size."""

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the file as one piece."""
        return [Piece(0, len(source.data))] if source.data else []
