"""`astchunk`: the implementation of cAST by its authors."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import Any, ClassVar

from astchunk import ASTChunkBuilder

from chunkers.peers.peer import Peer
from chunkers.plugins import not_negative
from chunkers.text_cuts import text_pieces
from chunkers.tokens import same_length_text
from chunkers.types import Piece, SourceFile

_NAMES = {"python": "python", "java": "java", "csharp": "csharp", "typescript": "typescript", "tsx": "typescript"}


@dataclass(frozen=True, kw_only=True)
class Astchunk(Peer):
    """ASTChunkBuilder; size in non-whitespace characters, overlap in nodes.

    Its chunks are lists of nodes whose text it prints again, so the spans are computed from the nodes: a chunk spans
    from its first node to its last, and text between two nodes that no node holds is counted as lost.
    """

    size: int = 2000
    overlap: int = 0

    version: ClassVar[str] = f"1 (astchunk {installed('astchunk')})"
    project: ClassVar[str] = "astchunk"

    def __post_init__(self) -> None:
        super().__post_init__()
        not_negative(self, "overlap")

    def knows(self, language: str) -> bool:
        """Return whether the library supports this language."""
        return language in _NAMES

    def spans(self, text: str, source: SourceFile) -> list[Piece]:
        """Return the spans from each chunk's first node to its last."""
        windows = self._windows(text, source)
        return sorted({Piece(window[0].start, window[-1].end) for window in windows})

    def held(self, source: SourceFile) -> list[Piece]:
        """Return what the library's text actually holds: the nodes alone."""
        if self.fallback(source):
            return text_pieces(source.data, limit=self.size)
        windows = self._windows(same_length_text(source.data), source)
        return sorted(piece for window in windows for piece in window)

    def _windows(self, text: str, source: SourceFile) -> list[list[Piece]]:
        """Return the byte ranges of each chunk's nodes."""
        builder: Any = ASTChunkBuilder(
            max_chunk_size=self.size, language=_NAMES[source.language or ""], metadata_template="none"
        )
        tree = builder.parser.parse(text.encode())
        try:
            windows = list(builder.assign_tree_to_windows(code=text, root_node=tree.root_node))
        except RecursionError:
            return []
        windows = builder.add_window_overlapping(ast_windows=windows, chunk_overlap=self.overlap)
        spans = ([Piece(n.node.start_byte, n.node.end_byte) for n in window] for window in windows)
        return [window for window in ([s for s in nodes if s.start < s.end] for nodes in spans) if window]
