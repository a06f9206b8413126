"""`fixed-nws`: whole lines up to a number of non-whitespace characters, the baseline of syntax chunkers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkers.plugins import positive
from chunkers.text_cuts import text_pieces
from chunkers.types import Piece, SizeLimit, SourceFile


@dataclass(frozen=True, kw_only=True)
class FixedNws:
    """Fills each chunk with whole lines; a line over the limit is cut at whitespace, else anywhere."""

    size: int = 1500

    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        positive(self, "size")

    @property
    def limit(self) -> SizeLimit:
        """No chunk has more non-whitespace characters."""
        return SizeLimit("nws", self.size)

    def split(self, source: SourceFile) -> list[Piece]:
        """Return pieces that tile the file."""
        return text_pieces(source.data, limit=self.size)
