"""`code-chunk`: the windows of supermemory's code-chunk, merged over the whole file, with its header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from chunkers.code_chunk_header import FileContext
from chunkers.definition_nodes import DEFINITION_NODES
from chunkers.imports import imported_names
from chunkers.languages import GRAMMAR_PACK
from chunkers.outline import has_outline, outline
from chunkers.plugins import not_negative, positive
from chunkers.scope import Scopes
from chunkers.sizes import nws_before
from chunkers.syntax import no_grammar, no_tree, parse
from chunkers.text_cuts import text_pieces
from chunkers.types import Piece, SizeLimit, SourceFile
from chunkers.windows import Level, Windows

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, kw_only=True)
class CodeChunk:
    """Fills windows with syntax nodes, descends into too large ones, then merges neighbours whatever their parents.

    The header (path, scope, definitions, imports, siblings, and ``overlap`` lines of the previous chunk) is only for
    the embedder; the text stays verbatim. Unlike the original, a line over the limit is cut and nothing is duplicated.
    """

    size: int = 1500
    header: bool = True
    overlap: int = 10

    version: ClassVar[str] = f"1 ({GRAMMAR_PACK})"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        positive(self, "size")
        not_negative(self, "overlap")

    @property
    def limit(self) -> SizeLimit:
        """No chunk has more non-whitespace characters, not counting the header."""
        return SizeLimit("nws", self.size)

    def fallback(self, source: SourceFile) -> str | None:
        """Return why this file is cut by lines."""
        return no_tree(source) if self.header or len(source.data) > self.size else no_grammar(source)

    def split(self, source: SourceFile) -> list[Piece]:
        """Return pieces that tile the file."""
        data = source.data
        counts = nws_before(data) if len(data) > self.size else None
        fits = counts is None or counts[len(data)] <= self.size
        if not data or (fits and not self.header):
            return [Piece(0, len(data))] if data else []
        root = parse(source)
        if root is None:
            return self._titled(source, text_pieces(data, limit=self.size))
        if fits or counts is None:
            return self._titled(source, [Piece(0, len(data))], root)
        windows = Windows(data, counts, self.size, merge_siblings=False)
        windows.fill(root)
        kept = list(_merged(windows, len(data)))
        starts = [windows.starts[index] for index in kept]
        pieces = list(map(Piece, starts, [*starts[1:], len(data)]))
        return self._titled(source, pieces, root, [windows.levels[index] for index in kept])

    def _titled(
        self, source: SourceFile, pieces: list[Piece], root: Node | None = None, levels: list[Level] | None = None
    ) -> list[Piece]:
        """Return the pieces with their headers, if requested."""
        if not self.header:
            return pieces
        known = root is not None and has_outline(source.language)
        definitions = outline(root, DEFINITION_NODES[source.language or ""]) if known and root else []
        imports = imported_names(root, source.language or "") if known and root else []
        context = FileContext(source.path, source.data, definitions, imports)
        scopes = Scopes(source.language)
        titled = []
        for index, piece in enumerate(pieces):
            around = scopes.around(levels[index] if levels else None, piece.start)
            before = pieces[max(index - 1, 0)].start
            text = context.header(piece.start, piece.end, around=around, before=before, overlap=self.overlap)
            titled.append(piece._replace(header=text))
        return titled


def _merged(windows: Windows, end: int) -> Iterator[int]:
    """Yield the windows that remain when, from left to right, each absorbs the next ones while all fit."""
    counts, starts = windows.counts, windows.starts
    begin = -1
    for index, finish in enumerate([*starts[1:], end]):
        if begin < 0 or counts[finish] - begin > windows.limit:
            begin = counts[starts[index]]
            yield index
