"""`chonkie`: the CodeChunker of chonkie, counting characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import ClassVar

from chonkie.chunker.code import CodeChunker

from chunkers.languages import known_languages
from chunkers.peers.peer import TextPeer
from chunkers.types import SourceFile


@dataclass(frozen=True, kw_only=True)
class Chonkie(TextPeer):
    """CodeChunker with the character tokenizer; size in characters."""

    version: ClassVar[str] = f"1 (chonkie {installed('chonkie')})"
    project: ClassVar[str] = "chonkie"

    def knows(self, language: str) -> bool:
        """Return whether the grammar pack, which chonkie uses too, has the language."""
        return language in known_languages()

    def texts(self, text: str, source: SourceFile) -> Iterable[str]:
        """Return the library's chunks."""
        chunker = CodeChunker(tokenizer="character", chunk_size=self.size, language=source.language)
        return [chunk.text for chunk in chunker.chunk(text)]
