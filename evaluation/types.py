"""The input of a measure, and the key of a cell."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from chunkers.types import SizeUnit


class Measured(Protocol):
    """A file in some unit: a `Ruler`, or any object with its method."""

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many units begin before each offset."""


class TextSpan(NamedTuple):
    """Half-open bytes of one file; ``file`` indexes the rulers of its case."""

    file: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextCase:
    """The text behind one query's ranking: what each result shows, and where the gold is."""

    results: Sequence[TextSpan]
    gold: Sequence[TextSpan]
    rulers: Mapping[SizeUnit, Sequence[Measured]]
    """For each unit, one ruler per file."""
    headers: Mapping[SizeUnit, Sequence[int]] = field(default_factory=dict)
    """Units of each result's header, if there are any: they cost budget and are never gold."""
    chunks: Sequence[TextSpan] | None = None
    """Every chunk of the files that hold gold, retrieved or not: for measures of where the chunker cut."""
    visible: Sequence[Measured] | None = None
    """Each file in bytes without the hidden ones, for measures in bytes; None if nothing is hidden."""


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Every chunk that a query searches, retrieved or not: the basis of random and perfect rankings."""

    spans: np.ndarray
    """One row (file, start, end) per chunk, ascending; ``file`` indexes the rulers of the cases."""
    sizes: Mapping[SizeUnit, np.ndarray]
    """Units of each chunk's text."""
    headers: Mapping[SizeUnit, np.ndarray] = field(default_factory=dict)
    """Units of each chunk's header, if there are any."""
    depth: int | None = None
    """The length of rankings of ids; None if they go on to the last chunk."""
    memory: dict[object, object] = field(default_factory=dict, repr=False)
    """Values computed once for all queries that share the space; they live as long as the space."""

    def __len__(self) -> int:
        return len(self.spans)

    @functools.cached_property
    def overlaps(self) -> bool:
        """Whether any byte belongs to two chunks."""
        file, start, end = self.spans.T
        same = file[1:] == file[:-1]
        return bool(np.any(same & (start[1:] < end[:-1])))

    @functools.cached_property
    def folds(self) -> int:
        """The largest number of chunks that hold the same byte."""
        file, start, end = self.spans.T
        room = int(end.max(initial=0)) + 1
        # An end counts before a start at the same byte.
        points = np.concatenate((file * room + end, file * room + start))
        steps = np.concatenate((np.full(len(end), -1), np.ones(len(start), dtype=np.int64)))
        return max(1, int(np.cumsum(steps[np.argsort(points, kind="stable")]).max(initial=1)))

    def costs(self, unit: SizeUnit) -> np.ndarray:
        """Return the units that reading each chunk costs, including the header."""
        header = self.headers.get(unit)
        return self.sizes[unit] if header is None else self.sizes[unit] + header


@dataclass(frozen=True, slots=True)
class Answer:
    """One of several equally good answers to a query: what is relevant and where the gold is, for this one."""

    grades: Mapping[str, float] | None
    gold: Sequence[TextSpan] = ()
    nuggets: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One query and all that any measure may need; a part that no chosen measure needs may be None."""

    query_id: str
    ranking: Sequence[str]
    """Chunk ids, best first, ties already broken."""
    grades: Mapping[str, float] | None
    """The query's qrels: chunk id → grade. None: unlabelled. Empty: labelled, and nothing is relevant."""
    text: TextCase | None = None
    vectors: np.ndarray | None = None
    """Unit rows of the results, in rank order."""
    nuggets: Mapping[str, frozenset[int]] | None = None
    """Every chunk that touches gold, retrieved or not → the gold regions it touches."""
    reference: Sequence[str] | None = None
    """A full reference ranking, for rank correlation."""
    space: SearchSpace | None = None
    """The search space of the query, for chance levels and ceilings; queries of one repository share it."""
    answers: Sequence[Answer] = ()
    """The alternatives, if any one of several answers suffices; then all other fields are of their union.

    Each measure scores the ranking against every answer as if it were the only one, and the best score counts:
    showing one answer whole is a perfect score, and showing half of each is one half. Measures without a direction,
    such as the number of relevant chunks, use the union.
    """


Scores = Mapping[str, Mapping[str, float]]
"""query id → measure name → value; a value that is undefined for a query is NaN and is counted."""


_READ = " + "
NO_STAGE = "–"
"""In place of an embedder and a retriever, for a span run, which replaces the whole pipeline."""


class CellKey(NamedTuple):
    """One combination that is compared; a span run is one too, with its name in place of the chunker."""

    dataset: str
    chunker: str
    embedder: str
    retriever: str

    @classmethod
    def of_span_run(cls, dataset: str, name: str) -> CellKey:
        """Return the key of a span run: the results of some tool, whatever it consists of."""
        return cls(dataset, name, NO_STAGE, NO_STAGE)

    def read_by(self, reader: str) -> CellKey:
        """Return the key of the same ranking under a reader, whose name follows the chunker's."""
        return self._replace(chunker=f"{self.chunker}{_READ}{reader}")

    @property
    def is_read(self) -> bool:
        """Whether a reader determines what is read."""
        return _READ in self.chunker

    @property
    def reader(self) -> str:
        """The reader's spec; empty if the chunks themselves are read."""
        return self.chunker.rpartition(_READ)[2] if self.is_read else ""

    @property
    def searched(self) -> CellKey:
        """The key of the ranking that is read."""
        return self._replace(chunker=self.chunker.rpartition(_READ)[0]) if self.is_read else self

    @property
    def is_span_run(self) -> bool:
        """Whether another tool made the ranking."""
        return self.retriever == NO_STAGE
