"""`llama-index`: the CodeSplitter of llama-index-core."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import ClassVar

from llama_index.core.node_parser import CodeSplitter

from chunkers.languages import known_languages, parser
from chunkers.peers.peer import TextPeer
from chunkers.types import SourceFile


@dataclass(frozen=True, kw_only=True)
class LlamaIndex(TextPeer):
    """CodeSplitter in its character mode; size in characters; it strips each chunk."""

    version: ClassVar[str] = f"1 (llama-index-core {installed('llama-index-core')})"
    project: ClassVar[str] = "llama-index"

    def knows(self, language: str) -> bool:
        """Return whether there is a parser to pass to the splitter."""
        return language in known_languages()

    def texts(self, text: str, source: SourceFile) -> Iterable[str]:
        """Return the library's chunks."""
        language = source.language or ""
        # Its default tokenizer is downloaded; character mode needs none.
        splitter = CodeSplitter(language=language, max_chars=self.size, parser=parser(language), tokenizer=list)
        chunks: list[str] = splitter.split_text(text)
        return chunks
