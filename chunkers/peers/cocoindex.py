"""`cocoindex`: the RecursiveSplitter of cocoindex (Rust)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import ClassVar

# cocoindex sends usage data over the network unless disabled, and checks this on import.
os.environ.setdefault("COCOINDEX_DISABLE_USAGE_TRACKING", "1")

from cocoindex.ops.text import RecursiveSplitter, detect_code_language

from chunkers.peers.peer import TextPeer
from chunkers.types import SourceFile

_KNOWN = frozenset(
    "bash c cpp csharp css elixir fortran go html java javascript json kotlin lua markdown pascal php python r ruby "
    "rust scala solidity sql swift toml tsx typescript xml yaml".split()
)


@dataclass(frozen=True, kw_only=True)
class Cocoindex(TextPeer):
    """RecursiveSplitter with cocoindex's own language detection by file name; size in bytes; it trims each chunk."""

    version: ClassVar[str] = f"1 (cocoindex {installed('cocoindex')})"
    project: ClassVar[str] = "cocoindex"

    def knows(self, language: str) -> bool:
        """Return whether the library supports this language."""
        return language in _KNOWN

    def texts(self, text: str, source: SourceFile) -> Iterable[str]:
        """Return the library's chunks."""
        language = detect_code_language(filename=source.path) or source.language
        return [chunk.text for chunk in RecursiveSplitter().split(text, self.size, language=language)]
