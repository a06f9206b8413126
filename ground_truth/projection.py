"""cAST's protocol: rankings of any chunker projected onto the chunks of one reference chunker."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ground_truth.intervals import Intervals, overlapping
from ground_truth.line_axis import ChunkLines

Aggregation = Literal["max", "mean"]


class Projected(NamedTuple):
    """A reference chunk and the score it inherits."""

    id: str
    score: float


@dataclass(frozen=True)
class Projection:
    """From the chunks of one chunker to those of the reference; both tables are on the same files."""

    chunks: ChunkLines
    reference: ChunkLines

    def __post_init__(self) -> None:
        if self.chunks.axis.offsets != self.reference.axis.offsets:
            raise ValueError("the two chunk tables are of different files")

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.chunks.ids)}

    def rank(self, ranking: Sequence[tuple[str, float]], *, aggregation: Aggregation = "max") -> list[Projected]:
        """Return the reference chunks that hold a scored line, best first.

        A line's score is the highest of the retrieved chunks that hold text of it; a reference chunk's score is the
        highest or the mean over its non-blank lines. In the mean, a line that was not retrieved counts with the lowest
        score of the ranking, so that it gains nothing from being absent. Ties go to the earlier chunk.
        """
        rows = np.array([self._positions[name] for name, _ in ranking], dtype=np.int64)
        scores = np.array([score for _, score in ranking], dtype=np.float64)
        if not len(rows):
            return []
        text = self.chunks.lines.text
        held = Intervals(text.first[rows], text.last[rows])
        touched, totals, best = _gather(*_line_scores(held, scores, self.reference), self.reference)
        if aggregation == "mean":
            counts = np.bincount(touched.held, minlength=len(self.reference.ids))[touched.chunks]
            sizes = self.reference.lines.sizes[touched.chunks]
            values = (totals + (sizes - counts) * scores.min()) / sizes
        else:
            values = best
        order = np.lexsort((touched.chunks, -values))
        return [Projected(self.reference.ids[touched.chunks[i]], float(values[i])) for i in order]


class _Touched(NamedTuple):
    chunks: np.ndarray
    """Reference chunks with at least one scored line, ascending."""
    held: np.ndarray
    """One entry per (scored line, reference chunk that holds it): the chunk."""


def _line_scores(text: Intervals, scores: np.ndarray, reference: ChunkLines) -> tuple[np.ndarray, np.ndarray]:
    """Return the lines with text held by some result, and the highest score of each."""
    lengths = np.maximum(text.last - text.first + 1, 0)
    starts = np.repeat(text.first, lengths)
    lines = starts + np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    values = np.repeat(scores, lengths)
    filled = reference.axis.count(lines, lines) > 0
    unique, place = np.unique(lines[filled], return_inverse=True)
    best = np.full(len(unique), -np.inf)
    np.maximum.at(best, place.ravel(), values[filled])
    return unique, best


def _gather(lines: np.ndarray, scores: np.ndarray, reference: ChunkLines) -> tuple[_Touched, np.ndarray, np.ndarray]:
    """Return the touched reference chunks, and for each the sum and the highest of its line scores."""
    pairs = overlapping(Intervals(lines, lines), reference.lines.text)
    count = len(reference.ids)
    totals = np.bincount(pairs.right, weights=scores[pairs.left], minlength=count)
    best = np.full(count, -np.inf)
    np.maximum.at(best, pairs.right, scores[pairs.left])
    chunks = np.unique(pairs.right)
    return _Touched(chunks, pairs.right), totals[chunks], best[chunks]
