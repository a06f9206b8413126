"""Queries, their answers, and the datasets that hold both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from chunkers.sources import Repository

Qrels = Mapping[str, Mapping[str, int]]
"""query id → chunk id → integer grade above 0; a query with no relevant chunk has an empty mapping."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question about one repository."""

    id: str
    text: str
    repo: str
    """The repository (or snapshot of one) that is searched."""
    group: str = ""
    """The unit of the statistics; the repository unless the dataset says otherwise."""
    expected: str | None = None
    """The text of an expected answer, if the dataset has one."""
    kind: str = ""
    """How a mined query was made: docstrings, comments or commits; empty if people wrote it."""
    category: str = ""
    """The dataset's own class of question (semantic, architecture, symbol …); empty if it has none."""
    language: str = ""
    """The language of the answer according to the dataset; empty if unknown."""

    @property
    def cluster(self) -> str:
        """The unit of resampling."""
        return self.group or self.repo


@dataclass(frozen=True, slots=True)
class Annotation:
    """Lines that answer a query, 1-based and inclusive."""

    query_id: str
    repo: str
    path: str
    start_line: int
    end_line: int
    grade: float = 1.0
    alternative: str = ""
    """The answer that this place is part of.

    Places of one query with the same name form one answer: all of them are needed. Different names are equally good
    answers: finding any one of them is finding everything. A query whose places all have the empty name, as most do,
    has one answer. Names mean nothing beyond their query.
    """


class HiddenSpan(NamedTuple):
    """Half-open bytes of a file that no index shows: a query must not be matched by the text it was made from."""

    repo: str
    path: str
    start_byte: int
    end_byte: int


class GoldSpan(NamedTuple):
    """An annotation resolved to half-open bytes of its file."""

    repo: str
    path: str
    start_byte: int
    end_byte: int
    grade: float


@dataclass(frozen=True)
class Dataset:
    """Repositories, queries and annotations, ready to be chunked and searched."""

    name: str
    repositories: tuple[Repository, ...]
    queries: tuple[Query, ...]
    annotations: tuple[Annotation, ...]
    scope: Literal["repository", "all"] = "repository"
    """Whether a query searches its own repository or all of them together."""
    mined: bool = False
    """Whether the queries were made by a miner rather than by people."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Facts for readers of the results: versions, counts of what was dropped and why."""
    hidden: tuple[HiddenSpan, ...] = ()
    """Bytes that are cut with their file but hidden from every index; they are neither read nor gold."""
    relevance: Callable[[Query, str], bool | None] | None = None
    """The dataset's own judgement of a chunk's text, for queries without annotations; None: no judgement."""


class DatasetLoader(Protocol):
    """A frozen keyword-only dataclass whose fields are the parameters of the dataset's spec."""

    version: ClassVar[str]

    def load(self) -> Dataset:
        """Return the dataset; raise UsageError, naming file and row, if the data is invalid."""
