"""The input and output of a search."""

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
    """The origin of a chunk of a search space."""

    repo: str
    path: str
    start_line: int
    """1-based; so is end_line, which is inclusive."""
    end_line: int
    language: str | None


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The chunks to search, ordered by repository, path, start and end byte: position breaks ties."""

    texts: Sequence[str]
    vectors: Vectors | None = None
    places: Sequence[RowPlace] | None = None
    """The origin of each chunk, for retrievers that use paths; None if the space consists of plain texts."""
    words: PostingShard | None = None
    """Counts of the query words in the texts, if already known; not yet weighed."""


@dataclass(frozen=True, slots=True)
class QueryBatch:
    """The queries of one search space."""

    texts: Sequence[str]
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """A prepared search space: built once, searched many times."""

    bytes: int
    """Size of what is kept to answer queries: postings, vectors and links, without the texts."""
    search: Callable[..., list[list[Hit]]]
    """`search(queries, *, depth)`: the same hits as the retriever's own search of the space."""


class Encoder(Protocol):
    """A frozen keyword-only dataclass that turns texts into unit vectors.

    Construction is cheap; the model is loaded at the first text. An encoder that only looks up existing vectors
    declares ``stored: ClassVar[bool] = True``: they are not cached again. One that returns a row of zeros for a text
    without content declares ``zero_rows: ClassVar[bool] = True``; zeros from any other encoder are rejected. One that
    runs on this machine may declare ``local: ClassVar[bool] = True``: query embedding is then timed, by embedding some
    queries again.
    """

    version: ClassVar[str]

    @property
    def max_tokens(self) -> int | None:
        """How much of a text the model sees, in its own tokens; None if there is no limit."""

    def identity(self) -> Mapping[str, Any]:
        """Return everything that determines the vectors (model, revision, prompts, length, pooling): the cache key."""

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return one float32 unit row per text; kind is "document" or "query"."""

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the length of each text in the model's tokens, before truncation."""


class Retriever(Protocol):
    """A frozen keyword-only dataclass that ranks a search space for each query.

    A retriever may also have ``diagnostics(space, queries, *, depth) -> Mapping[str, float]``: facts about its run (for
    an approximate index, its recall against exact search), which are stored in the result. With
    ``prepare(space) -> Index``, building and searching the index are timed separately, and its size is reported.
    """

    version: ClassVar[str]
    uses_vectors: ClassVar[bool]

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return at most depth hits per query: score descending, then position ascending."""
