"""What goes into a search and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from indexing.postings import PostingShard

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]


class Hit(NamedTuple):
    """One result: the position of a chunk in the search space, and its score."""

    position: int
    score: float


Run = Mapping[str, Sequence[Hit]]
"""query id → results, best first, ties already broken."""


class RowPlace(NamedTuple):
    """Where a chunk of a search space is from."""

    repo: str
    path: str
    start_line: int
    """Counted from 1; so is end_line, which is inclusive."""
    end_line: int
    language: str | None


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The chunks that are searched, ordered by repository, path, start and end byte: position breaks ties."""

    texts: Sequence[str]
    vectors: Vectors | None = None
    places: Sequence[RowPlace] | None = None
    """Where each chunk is from, for retrievers that look at paths; None where a space is made of plain texts."""
    words: PostingShard | None = None
    """What the texts hold of the words that are asked for, where they are counted already; not yet weighed."""


@dataclass(frozen=True, slots=True)
class QueryBatch:
    """The queries that are asked of one search space."""

    texts: Sequence[str]
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """A search space made ready: built once, asked many times."""

    bytes: int
    """What is kept to answer queries: postings, vectors and links, without the texts."""
    search: Callable[..., list[list[Hit]]]
    """`search(queries, *, depth)`: the same hits as the retriever's own search of the space."""


class Encoder(Protocol):
    """A frozen keyword-only dataclass that turns texts into unit vectors.

    Construction is cheap; the model is loaded at the first text. An encoder whose vectors are at hand already says
    ``stored: ClassVar[bool] = True``: they are not cached again. One that gives a row of zeros for a text that says
    nothing declares ``zero_rows: ClassVar[bool] = True``; anybody else's zeros are refused. One that runs on this
    machine may say ``local: ClassVar[bool] = True``: then embedding a query is timed, by embedding some queries again.
    """

    version: ClassVar[str]

    @property
    def max_tokens(self) -> int | None:
        """How much of a text the model sees, in its own tokens; None where there is no limit."""

    def identity(self) -> Mapping[str, Any]:
        """Return all that decides the vectors (model, revision, prompts, length, pooling): the cache key."""

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return one float32 unit row per text; kind is "document" or "query"."""

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the length of each text in the model's tokens, before truncation."""


class Retriever(Protocol):
    """A frozen keyword-only dataclass that ranks a search space for each query.

    A retriever may also have ``diagnostics(space, queries, *, depth) -> Mapping[str, float]``: what a reader should
    know of its run (an approximate index: its recall against exact search). It goes into the result. With
    ``prepare(space) -> Index`` building the index and asking it are timed apart, and its size is reported.
    """

    version: ClassVar[str]
    uses_vectors: ClassVar[bool]

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return at most depth hits per query: score descending, then position ascending."""
