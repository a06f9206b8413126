"""`lines`: each hit with lines above and below it, as editors and grep -C show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from indexing.readers.types import Corpus, Stretch


@dataclass(frozen=True, kw_only=True)
class LineReader:
    """Reads whole lines: those of the hit, and so many above and below."""

    around: int = 20

    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.around < 0:
            raise UsageError(f"around must be 0 or more, not {self.around}")

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return the hits with the lines around them."""
        return [_wider(hit, corpus.source(hit.file).data, self.around) for hit in hits]


def _wider(hit: Stretch, data: bytes, around: int) -> Stretch:
    start = data.rfind(b"\n", 0, hit.start) + 1
    for _ in range(around):
        if start == 0:
            break
        start = data.rfind(b"\n", 0, start - 1) + 1
    # A hit that ends with a line feed already ends its line.
    end = hit.end if hit.end > hit.start and data[hit.end - 1 : hit.end] == b"\n" else _line_end(data, hit.end)
    for _ in range(around):
        if end == len(data):
            break
        end = _line_end(data, end)
    return hit._replace(start=start, end=end)


def _line_end(data: bytes, offset: int) -> int:
    found = data.find(b"\n", offset)
    return len(data) if found < 0 else found + 1
