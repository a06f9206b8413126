"""What a measure sees, and what a cell of an experiment ends as."""

from __future__ import annotations

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


Scores = Mapping[str, Mapping[str, float]]
"""query id → measure name → value; a value that is undefined for a query is NaN and is counted."""


class CellKey(NamedTuple):
    """One combination that is compared."""

    dataset: str
    chunker: str
    embedder: str
    retriever: str
