"""`chunkhound`: ChunkHound's parser, in an environment of its own (`python -m scripts.setup_peers chunkhound`)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from chunkers.peers.alignment import runs
from chunkers.peers.environment import CHUNKHOUND, worker
from chunkers.peers.peer import Peer
from chunkers.sizes import ruler
from chunkers.tokens import same_length_text
from chunkers.types import Piece, SourceFile

_KNOWN = frozenset(
    "bash c cpp csharp css dart elixir go groovy haskell hcl html java javascript json kotlin lua make markdown matlab "
    "objc php powershell python rust scss sql svelte swift toml tsx typescript vue yaml zig".split()
)


@dataclass(frozen=True, kw_only=True)
class Chunkhound(Peer):
    """The universal parser with its own merging; size in non-whitespace characters.

    Its chunks overlap (a class and its methods are both chunks), and some are assembled from non-adjacent lines: such a
    chunk spans from the first of them to the last, and skipped lines are counted as lost.
    """

    size: int = 1200

    version: ClassVar[str] = f"1 ({CHUNKHOUND.packages[0]})"
    project: ClassVar[str] = "chunkhound"

    def __post_init__(self) -> None:
        super().__post_init__()
        worker(CHUNKHOUND)  # fails at once if the environment is missing

    def knows(self, language: str) -> bool:
        """Return whether the library supports this language."""
        return language in _KNOWN

    def spans(self, text: str, source: SourceFile) -> list[Piece]:
        """Return the span from the first to the last line of each chunk."""
        parts = self._runs(text, source)
        return sorted({Piece(min(p.start for p in part), max(p.end for p in part)) for part in parts})

    def held(self, source: SourceFile) -> list[Piece]:
        """Return what the library's text actually holds."""
        if self.fallback(source):
            return self.split(source)
        return sorted(itertools.chain.from_iterable(self._runs(same_length_text(source.data), source)))

    def _runs(self, text: str, source: SourceFile) -> list[list[Piece]]:
        """Return the spans that each chunk was assembled from."""
        found = worker(CHUNKHOUND).ask({"path": source.path, "text": text, "size": self.size}).get("chunks", [])
        data = text.encode()
        starts = np.append(ruler(data, "lines").starts, len(data))
        # Its line numbers are sometimes off, so the search for a chunk starts a little before its line.
        begins = [int(starts[min(max(chunk["line"] - 2, 0), len(starts) - 1)]) for chunk in found]
        parts = [runs(data, chunk["text"].encode(), begin=begin) for chunk, begin in zip(found, begins, strict=True)]
        return [part for part in parts if part]
