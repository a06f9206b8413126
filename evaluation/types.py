"""What a measure sees, and what a cell of an experiment ends as."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from chunkers.types import SizeUnit


class Measured(Protocol):
    """A file in some unit: a `Ruler`, or what can answer as one."""

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
    """For each unit that is measured, one ruler per file."""
    headers: Mapping[SizeUnit, Sequence[int]] = field(default_factory=dict)
    """Units of each result's header, where there are any: they cost budget and are never gold."""
    chunks: Sequence[TextSpan] | None = None
    """Every chunk of the files that hold gold, retrieved or not: for measures that ask where the chunker cut."""
    visible: Sequence[Measured] | None = None
    """Each file in bytes without the hidden ones, for measures in bytes; None where nothing is hidden."""


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Every chunk that a query chooses from, retrieved or not: what a random or a perfect ranking is made of."""

    spans: np.ndarray
    """A row (file, start, end) per chunk, ascending; ``file`` indexes the rulers of the cases."""
    sizes: Mapping[SizeUnit, np.ndarray]
    """Units of each chunk's text."""
    headers: Mapping[SizeUnit, np.ndarray] = field(default_factory=dict)
    """Units of each chunk's header, where there are any."""
    depth: int | None = None
    """The length at which rankings of ids end; None where they go on to the last chunk."""
    memory: dict[object, object] = field(default_factory=dict, repr=False)
    """What is computed once for all queries that share the space; it lives as long as the space."""

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
        """The greatest number of chunks that hold the same byte."""
        file, start, end = self.spans.T
        room = int(end.max(initial=0)) + 1
        # An end counts before a start at the same byte.
        points = np.concatenate((file * room + end, file * room + start))
        steps = np.concatenate((np.full(len(end), -1), np.ones(len(start), dtype=np.int64)))
        return max(1, int(np.cumsum(steps[np.argsort(points, kind="stable")]).max(initial=1)))

    def costs(self, unit: SizeUnit) -> np.ndarray:
        """Return the units that reading each chunk costs, header included."""
        header = self.headers.get(unit)
        return self.sizes[unit] if header is None else self.sizes[unit] + header


@dataclass(frozen=True, slots=True)
class Answer:
    """One of several equally good answers to a query: what is relevant and where the gold is, if this one is meant."""

    grades: Mapping[str, float] | None
    gold: Sequence[TextSpan] = ()
    nuggets: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One query and all that any measure may ask about it; a part that no chosen measure needs may be None."""

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
    """What the query chose from, for chance levels and ceilings; queries of one repository share it."""
    answers: Sequence[Answer] = ()
    """The alternatives, where any one of several answers suffices; then all other fields are of their union.

    Each measure scores the ranking against every answer as if it were the only one, and the best score counts: showing
    one answer whole is a perfect score, and showing a half of each is a half. Measures without a direction, such as
    the number of relevant chunks, look at the union.
    """


Scores = Mapping[str, Mapping[str, float]]
"""query id → measure name → value; a value that is undefined for a query is NaN and is counted."""


_READ = " + "
NO_STAGE = "–"
"""In place of an embedder and a retriever, where a span run stands for the whole pipeline."""


class CellKey(NamedTuple):
    """One combination that is compared; a span run is one too, under its name in place of the chunker."""

    dataset: str
    chunker: str
    embedder: str
    retriever: str

    @classmethod
    def of_span_run(cls, dataset: str, name: str) -> CellKey:
        """Return the key of a span run: what some tool returned, whatever it is made of."""
        return cls(dataset, name, NO_STAGE, NO_STAGE)

    def read_by(self, reader: str) -> CellKey:
        """Return the key of the same ranking under a reader, which stands beside the chunker."""
        return self._replace(chunker=f"{self.chunker}{_READ}{reader}")

    @property
    def is_read(self) -> bool:
        """Whether a reader decides what is read."""
        return _READ in self.chunker

    @property
    def is_span_run(self) -> bool:
        """Whether some other tool made the ranking."""
        return self.retriever == NO_STAGE
