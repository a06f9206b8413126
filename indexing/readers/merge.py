"""`merge`: hits that touch become one, and a definition that was mostly found is read whole (auto-merging)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from indexing.readers.definition import definition_spans
from indexing.readers.types import Corpus, Stretch


@dataclass(frozen=True, kw_only=True)
class MergeReader:
    """Merges among the first ``top`` hits; a merged stretch has the rank of its best hit, and the rest stays as it is.

    A definition of which hits, two or more of them, hold at least ``share`` of the bytes is read whole.
    """

    share: float = 0.5
    top: int = 20

    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"share must be above 0 and at most 1, not {self.share}")
        if self.top < 2:
            raise UsageError(f"top must be at least 2, not {self.top}")

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return the merged stretches in the order of their best hits, then the other hits."""
        merged: list[Stretch] = []
        top, rest = hits[: self.top], hits[self.top :]
        for file in sorted({hit.file for hit in top}):
            here = [hit for hit in top if hit.file == file]
            parents = self._parents(here, definition_spans(corpus.source(file))) if len(here) > 1 else []
            merged += _joined([*here, *parents])
        return sorted(merged, key=lambda stretch: stretch.hit) + list(rest)

    def _parents(self, hits: Sequence[Stretch], definitions: Iterable[tuple[int, int]]) -> list[Stretch]:
        found = []
        for start, end in definitions:
            inside = [hit for hit in hits if hit.start < end and start < hit.end]
            held = sum(min(each.end, end) - max(each.start, start) for each in _joined(inside))
            if len(inside) > 1 and held >= self.share * (end - start):
                found.append(Stretch(hits[0].file, start, end, min(hit.hit for hit in inside)))
        return found


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Merge stretches of one file that touch or overlap, under the best of their hits."""
    joined: list[Stretch] = []
    for each in sorted(stretches, key=lambda stretch: (stretch.start, stretch.end)):
        if joined and each.start <= joined[-1].end:
            last = joined[-1]
            joined[-1] = last._replace(end=max(last.end, each.end), hit=min(last.hit, each.hit))
        else:
            joined.append(each)
    return joined
