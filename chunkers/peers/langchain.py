"""`langchain`: the recursive splitter of langchain-text-splitters with its separators for the language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import ClassVar

from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

from chunkers.errors import UsageError
from chunkers.peers.peer import TextPeer
from chunkers.types import SourceFile

_NAMES = {"javascript": "js", "typescript": "ts", "tsx": "ts", "solidity": "sol"}
_KNOWN = frozenset(language.value for language in Language)


@dataclass(frozen=True, kw_only=True)
class Langchain(TextPeer):
    """RecursiveCharacterTextSplitter.from_language; size and overlap in characters; it strips each chunk."""

    overlap: int = 0

    version: ClassVar[str] = f"1 (langchain-text-splitters {installed('langchain-text-splitters')})"
    project: ClassVar[str] = "langchain-text-splitters"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.overlap < self.size:
            raise UsageError(f"overlap must be from 0 to {self.size - 1} (below size), not {self.overlap}")

    def knows(self, language: str) -> bool:
        """Return whether there are separators for the language."""
        return _NAMES.get(language, language) in _KNOWN

    def overlap_bytes(self) -> int:
        """Return the overlap, at the longest that a character can be."""
        return 4 * self.overlap

    def texts(self, text: str, source: SourceFile) -> Iterable[str]:
        """Return the library's chunks."""
        language = Language(_NAMES.get(source.language or "", source.language))
        splitter = RecursiveCharacterTextSplitter.from_language(
            language, chunk_size=self.size, chunk_overlap=self.overlap
        )
        chunks: list[str] = splitter.split_text(text)
        return chunks
