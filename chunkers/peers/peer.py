"""The common base of the adapters to third-party chunkers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.peers.alignment import located
from chunkers.plugins import positive
from chunkers.text_cuts import text_pieces
from chunkers.tokens import same_length_text
from chunkers.types import Piece, SizeLimit, SourceFile


@dataclass(frozen=True, kw_only=True)
class Peer(ABC):
    """A library's chunker, unmodified, with its texts mapped to spans.

    Nothing is repaired: what the library strips, drops or duplicates stays so and shows in `chunkers.coverage`. A file
    on which the library fails has no chunks. A file in a language that it does not support is cut by lines, as a
    fallback.
    """

    size: int = 1500
    """The limit, in the library's own unit."""

    lossless: ClassVar[bool] = False
    size_field: ClassVar[str] = "size"
    project: ClassVar[str]

    def __post_init__(self) -> None:
        positive(self, "size")

    @property
    def limit(self) -> SizeLimit | None:
        """The libraries' limits are in other units, and not all of them hold: no guarantee."""
        return None

    @abstractmethod
    def knows(self, language: str) -> bool:
        """Return whether the library can split this language."""

    @abstractmethod
    def spans(self, text: str, source: SourceFile) -> list[Piece]:
        """Return the spans of the library's chunks, ordered by start; text is the file, valid and of equal length."""

    def fallback(self, source: SourceFile) -> str | None:
        """Return why this file is cut by lines."""
        known = source.language is not None and self.knows(source.language)
        return None if known else f"{self.project} does not know {source.language or 'this file name'}"

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the spans of the library's chunks."""
        if self.fallback(source):
            return text_pieces(source.data, limit=self.size)
        try:
            return self.spans(same_length_text(source.data), source)
        except UsageError:
            raise
        except Exception:  # noqa: BLE001 - on any library error, its chunks of this file are lost
            return []


class TextPeer(Peer):
    """A library that returns texts, not positions."""

    @abstractmethod
    def texts(self, text: str, source: SourceFile) -> Iterable[str]:
        """Return the library's texts for a file."""

    def spans(self, text: str, source: SourceFile) -> list[Piece]:
        """Return the spans of the texts in the file."""
        chunks = [chunk.encode() for chunk in self.texts(text, source)]
        return located(text.encode(), chunks)
