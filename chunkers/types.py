"""The input and output types of chunkers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

SizeUnit = Literal["nws", "tokens", "lines"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of one repository, as it is indexed."""

    path: str
    """Posix path below the repository's root."""
    data: bytes
    language: str | None = None
    """A name from the grammar pack, or None if no grammar is known."""
    repo: str = ""


class Span(NamedTuple):
    """A half-open byte range of one file, with its 1-based inclusive lines, counted by line feeds only."""

    start_byte: int
    end_byte: int
    start_line: int
    end_line: int


class Piece(NamedTuple):
    """What a chunker returns: where to cut, and the header shown only to the embedder."""

    start: int
    end: int
    header: str = ""


class SizeLimit(NamedTuple):
    """The maximum size of a chunk."""

    unit: SizeUnit
    amount: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A verbatim slice of a file."""

    repo: str
    path: str
    language: str | None
    span: Span
    text: str
    """The slice; bytes that are not UTF-8 are kept as surrogate escapes."""
    header: str
    id: str

    @property
    def indexed_text(self) -> str:
        """What the embedder reads: the header, if any, above the text."""
        return f"{self.header}\n{self.text}" if self.header else self.text


def chunk_id(source: SourceFile, piece: Piece) -> str:
    """Return a hash of the chunk, so that equal chunks have equal ids whichever chunker cut them."""
    digest = hashlib.sha256()
    for part in (source.repo, source.path, f"{piece.start}:{piece.end}", piece.header):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    digest.update(source.data[piece.start : piece.end])
    return digest.hexdigest()[:20]


@runtime_checkable
class Chunker(Protocol):
    """A frozen keyword-only dataclass whose fields are the parameters of its spec.

    A chunker may also have ``fallback(source) -> str | None``: why this file is not split the way the chunker's name
    promises (for example, no grammar). It is counted and shown.
    """

    version: ClassVar[str]
    """Changes when the same parameters would cut the same file elsewhere; part of the cache key."""

    lossless: ClassVar[bool]
    """Whether the pieces of a file tile it or overlap, leaving nothing out."""

    @property
    def limit(self) -> SizeLimit | None:
        """The size that no chunk exceeds, or None if there is no guarantee."""

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces of the file, ordered by start, none empty; none for an empty file."""
