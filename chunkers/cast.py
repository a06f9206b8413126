"""`cast`: chunking by syntax tree, split then merge (Zhang et al. 2025, arXiv 2506.15655, algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkers.languages import GRAMMAR_PACK, known_languages, parser
from chunkers.plugins import positive
from chunkers.sizes import nws_before
from chunkers.text_cuts import text_pieces
from chunkers.types import Piece, SizeLimit, SourceFile
from chunkers.windows import Windows


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Fills chunks with neighbouring syntax nodes; enters a node that is too large; cuts a too large leaf as text.

    A file that fits is one chunk and is not parsed. Pieces tile the file: whitespace before a node's line goes to the
    chunk before it, the line's indentation stays with the node.
    """

    size: int = 2000

    version: ClassVar[str] = f"1 ({GRAMMAR_PACK})"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        positive(self, "size")

    @property
    def limit(self) -> SizeLimit:
        """No chunk has more non-whitespace characters."""
        return SizeLimit("nws", self.size)

    def fallback(self, source: SourceFile) -> str | None:
        """Return why this file is cut by lines."""
        return None if source.language in known_languages() else f"no grammar for {source.language or 'this file'}"

    def split(self, source: SourceFile) -> list[Piece]:
        """Return pieces that tile the file."""
        data = source.data
        if len(data) <= self.size:
            return [Piece(0, len(data))] if data else []
        if source.language not in known_languages():
            return text_pieces(data, limit=self.size)
        counts = nws_before(data)
        if counts[len(data)] <= self.size:
            return [Piece(0, len(data))]
        windows = Windows(data, counts, self.size, merge_siblings=True)
        windows.fill(parser(source.language).parse(data).root_node)
        return list(map(Piece, windows.starts, [*windows.starts[1:], len(data)]))
