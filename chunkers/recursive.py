"""`recursive`: cuts at the coarsest separator of the language, and what is still too large at the next finer one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chunkers.plugins import positive
from chunkers.separators import has_separators, separators
from chunkers.sizes import nws_before
from chunkers.text_cuts import text_cuts
from chunkers.types import Piece, SizeLimit, SourceFile


@dataclass(frozen=True, kw_only=True)
class Recursive:
    """Tries definitions, then blank lines, then lines, then whitespace; neighbours that fit together are one chunk."""

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

    def fallback(self, source: SourceFile) -> str | None:
        """Return why this file is cut only at blank lines and lines."""
        known = has_separators(source.language)
        return None if known else f"no separators for {source.language or 'this file name'}"

    def split(self, source: SourceFile) -> list[Piece]:
        """Return pieces that tile the file."""
        if not source.data:
            return []
        text = _Text(source.data, nws_before(source.data), self.size, separators(source.language))
        starts = list(text.starts(0, len(source.data), 0))
        return list(map(Piece, starts, [*starts[1:], len(source.data)]))


@dataclass(frozen=True, slots=True)
class _Text:
    data: bytes
    counts: memoryview
    limit: int
    patterns: tuple[re.Pattern[bytes], ...]

    def starts(self, start: int, end: int, level: int) -> Iterator[int]:
        """Yield the starts of a span's chunks; recursion goes no deeper than the number of separators."""
        if self._size(start, end) <= self.limit:
            yield start
        elif level == len(self.patterns):
            yield start
            yield from text_cuts(self.data, self.counts, start, end, limit=self.limit)
        else:
            for begin, finish in self._filled(start, end, level):
                yield from self.starts(begin, finish, level + 1)

    def _filled(self, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
        """Yield neighbouring parts, joined while they fit, and parts that do not fit alone."""
        begin = reached = start
        for cut in (*self._cuts(start, end, level), end):
            if reached > begin and self._size(begin, cut) > self.limit:
                yield begin, reached
                begin = reached
            reached = cut
        yield begin, end

    def _cuts(self, start: int, end: int, level: int) -> Iterator[int]:
        for match in self.patterns[level].finditer(self.data, start, end):
            # A part of only whitespace would be an empty chunk.
            if start < match.end() < end and self._size(start, match.end()):
                yield match.end()

    def _size(self, start: int, end: int) -> int:
        return self.counts[end] - self.counts[start]
