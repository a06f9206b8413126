"""`sliding-window`: windows of lines that overlap (CodeRAG-Bench has 20 lines every 10, and 50 every 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.line_windows import line_windows
from chunkers.plugins import positive
from chunkers.types import Piece, SizeLimit, SourceFile


@dataclass(frozen=True, kw_only=True)
class SlidingWindow:
    """Begins a window of ``window`` lines every ``step`` lines; the last one ends with the file."""

    window: int = 20
    step: int = 10
    offset: int = 0
    """Shifts every window by this many lines; the first one is shorter by as many."""

    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "window"

    def __post_init__(self) -> None:
        positive(self, "window", "step")
        if self.step > self.window:
            raise UsageError(f"step must not be above window ({self.window}): {self.step} would leave lines out")
        if not 0 <= self.offset < self.step:
            raise UsageError(f"offset must be from 0 to {self.step - 1} (below step), not {self.offset}")

    @property
    def limit(self) -> SizeLimit:
        """No chunk has more lines."""
        return SizeLimit("lines", self.window)

    @property
    def period(self) -> int:
        """Number of lines after which the cuts repeat: the number of different offsets."""
        return self.step

    def split(self, source: SourceFile) -> list[Piece]:
        """Return overlapping windows of lines."""
        return line_windows(source.data, window=self.window, step=self.step, offset=self.offset)
