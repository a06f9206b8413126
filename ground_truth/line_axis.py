"""Chunks as columns of numbers on one line axis through all files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import Span
from ground_truth.intervals import Intervals
from ground_truth.lines import FileLines
from ground_truth.spans import FileKey, check_lines
from ground_truth.types import Annotation


class LocatedChunk(Protocol):
    """The part of a chunk that an overlap rule needs; `Chunk` satisfies it."""

    @property
    def id(self) -> str:
        """The id used in qrels."""

    @property
    def repo(self) -> str:
        """The repository's name."""

    @property
    def path(self) -> str:
        """The file's path."""

    @property
    def span(self) -> Span:
        """Its bytes and lines."""


@dataclass(frozen=True, slots=True)
class LineAxis:
    """Every line of every file as one integer, so that one sort serves the whole corpus."""

    files: Mapping[FileKey, FileLines]
    offsets: Mapping[FileKey, int]
    """The number to add to a file's 1-based line."""
    text_before: np.ndarray
    """For each position, the number of non-blank lines up to and including it."""

    @classmethod
    def of(cls, files: Mapping[FileKey, FileLines]) -> LineAxis:
        """Concatenate the files, with an unused position between them."""
        offsets: dict[FileKey, int] = {}
        flags = [np.zeros(1, dtype=np.int64)]
        position = 0
        for key, lines in files.items():
            offsets[key] = position
            flags += [lines.has_text.astype(np.int64), np.zeros(1, dtype=np.int64)]
            position += lines.count + 1
        return cls(files, offsets, np.cumsum(np.concatenate(flags)))

    def count(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the number of lines with text in each inclusive range."""
        counts: np.ndarray = np.where(last >= first, self.text_before[last] - self.text_before[first - 1], 0)
        return counts

    def next_text(self, position: int) -> int:
        """Return the first position at or after this one whose line has text."""
        return int(np.searchsorted(self.text_before, self.text_before[position - 1] + 1))


@dataclass(frozen=True, slots=True)
class LineTable:
    """Rows of inclusive line ranges on the axis: the lines they touch, and the lines whose text they hold."""

    touched: Intervals
    text: Intervals
    sizes: np.ndarray
    """Lines with text, per row."""


@dataclass(frozen=True, slots=True)
class ChunkLines:
    """All chunks of one chunker on the axis."""

    axis: LineAxis
    ids: Sequence[str]
    lines: LineTable

    @classmethod
    def of(cls, files: Mapping[FileKey, FileLines], chunks: Iterable[LocatedChunk]) -> ChunkLines:
        """Place chunks, in any order, on the axis of the files."""
        axis = LineAxis.of(files)
        by_file: dict[FileKey, list[LocatedChunk]] = {}
        for chunk in chunks:
            by_file.setdefault(FileKey(chunk.repo, chunk.path), []).append(chunk)
        ids: list[str] = []
        columns: list[np.ndarray] = []
        for key, group in by_file.items():
            if key not in axis.offsets:
                raise UsageError(f"a chunk is of {key.repo}:{key.path}, which is not in the corpus")
            ids += [chunk.id for chunk in group]
            columns.append(_columns(axis, key, np.array([chunk.span for chunk in group], dtype=np.int64)))
        return cls(axis, ids, _table(axis, columns))


def place_annotations(axis: LineAxis, annotations: Sequence[Annotation]) -> LineTable:
    """Return the annotated lines, one row per annotation, in order."""
    rows = np.zeros((4, len(annotations)), dtype=np.int64)
    by_file: dict[FileKey, list[int]] = {}
    for index, note in enumerate(annotations):
        key = FileKey(note.repo, note.path)
        check_lines(note, axis.files.get(key))
        by_file.setdefault(key, []).append(index)
    for key, indices in by_file.items():
        lines = axis.files[key]
        first = np.array([annotations[index].start_line for index in indices])
        last = np.array([annotations[index].end_line for index in indices])
        ends = np.append(lines.starts, lines.size)[last]
        spans = np.stack((lines.starts[first - 1], ends, first, last), axis=1)
        rows[:, indices] = _columns(axis, key, spans)
    return _table(axis, [rows])


def _columns(axis: LineAxis, key: FileKey, spans: np.ndarray) -> np.ndarray:
    """Return first and last line touched, first and last line with text, for spans of one file."""
    first, last = axis.files[key].text_lines(spans[:, 0], spans[:, 1])
    return np.stack((spans[:, 2], spans[:, 3], first, last)) + axis.offsets[key]


def _table(axis: LineAxis, columns: Sequence[np.ndarray]) -> LineTable:
    joined = np.concatenate(columns, axis=1) if columns else np.zeros((4, 0), dtype=np.int64)
    touched, text = Intervals(joined[0], joined[1]), Intervals(joined[2], joined[3])
    return LineTable(touched, text, axis.count(text.first, text.last))
