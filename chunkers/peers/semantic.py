"""`semantic-text-splitter`: the CodeSplitter of text-splitter (Rust)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import ClassVar

from semantic_text_splitter import CodeSplitter

from chunkers.languages import binding, known_languages
from chunkers.peers.peer import TextPeer
from chunkers.types import SourceFile


@dataclass(frozen=True, kw_only=True)
class Semantic(TextPeer):
    """CodeSplitter; size in characters; ``trim`` lets it strip each chunk, as it does by default."""

    trim: bool = False

    version: ClassVar[str] = f"1 (semantic-text-splitter {installed('semantic-text-splitter')})"
    project: ClassVar[str] = "semantic-text-splitter"

    def knows(self, language: str) -> bool:
        """Return whether there is a grammar to pass to the splitter."""
        return language in known_languages()

    def texts(self, text: str, source: SourceFile) -> Iterable[str]:
        """Return the library's chunks."""
        chunks: list[str] = CodeSplitter(binding(source.language or ""), self.size, trim=self.trim).chunks(text)
        return chunks
