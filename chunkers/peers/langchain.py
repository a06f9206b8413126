"""`langchain`: the recursive splitter of langchain-text-splitters with its separators for the language."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import ClassVar

from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

from chunkers.errors import UsageError
from chunkers.peers.peer import Peer
from chunkers.types import Piece, SourceFile

_NAMES = {"javascript": "js", "typescript": "ts", "tsx": "ts", "solidity": "sol"}
_KNOWN = frozenset(language.value for language in Language)


@dataclass(frozen=True, kw_only=True)
class Langchain(Peer):
    """RecursiveCharacterTextSplitter.from_language; size and overlap in characters; it strips each chunk."""

    overlap: int = 0

    version: ClassVar[str] = f"2 (langchain-text-splitters {installed('langchain-text-splitters')})"
    project: ClassVar[str] = "langchain-text-splitters"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.overlap < self.size:
            raise UsageError(f"overlap must be from 0 to {self.size - 1} (below size), not {self.overlap}")

    def knows(self, language: str) -> bool:
        """Return whether there are separators for the language."""
        return _NAMES.get(language, language) in _KNOWN

    def spans(self, text: str, source: SourceFile) -> list[Piece]:
        """Return the library's chunks at its reported starts; one that it cannot find again is lost."""
        language = Language(_NAMES.get(source.language or "", source.language))
        splitter = RecursiveCharacterTextSplitter.from_language(
            language, chunk_size=self.size, chunk_overlap=self.overlap, add_start_index=True
        )
        pieces, before, offset = [], 0, 0
        for chunk in splitter.create_documents([text]):
            start = chunk.metadata["start_index"]
            if start < 0 or not chunk.page_content.strip():
                continue
            # Its positions are in characters, and an overlap may begin before the previous one did.
            step = len(text[min(before, start) : max(before, start)].encode())
            before, offset = start, offset + step if start >= before else offset - step
            pieces.append(Piece(offset, offset + len(chunk.page_content.encode())))
        return sorted(set(pieces))
