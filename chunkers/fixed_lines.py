"""`fixed-lines`: blocks of n lines, whatever they contain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.line_windows import line_windows
from chunkers.plugins import positive
from chunkers.types import Piece, SizeLimit, SourceFile


@dataclass(frozen=True, kw_only=True)
class FixedLines:
    """Cuts after every ``lines`` lines; each chunk but the first repeats the ``overlap`` lines before it."""

    lines: int = 50
    overlap: int = 0
    offset: int = 0
    """Lines before the first cut; 0 cuts after a whole block. Where the first cut falls is arbitrary."""

    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "lines"

    def __post_init__(self) -> None:
        positive(self, "lines")
        if not 0 <= self.overlap < self.lines:
            raise UsageError(f"overlap must be from 0 to {self.lines - 1} (below lines), not {self.overlap}")
        if not 0 <= self.offset < self.lines - self.overlap:
            raise UsageError(f"offset must be from 0 to {self.lines - self.overlap - 1}, not {self.offset}")

    @property
    def limit(self) -> SizeLimit:
        """No chunk has more lines."""
        return SizeLimit("lines", self.lines)

    @property
    def period(self) -> int:
        """Number of lines after which the cuts repeat: the number of different offsets."""
        return self.lines - self.overlap

    def split(self, source: SourceFile) -> list[Piece]:
        """Return blocks of lines; they tile the file unless they overlap."""
        return line_windows(source.data, window=self.lines, step=self.lines - self.overlap, offset=self.offset)
