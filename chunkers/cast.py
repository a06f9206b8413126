"""`cast`: chunking by syntax tree, split then merge (Zhang et al. 2025, arXiv 2506.15655, algorithm 1)."""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkers.languages import GRAMMAR_PACK
from chunkers.outline import signature_of
from chunkers.plugins import not_negative, positive
from chunkers.scope import Scopes
from chunkers.sizes import nws_before
from chunkers.syntax import no_grammar, no_tree, parse
from chunkers.text_cuts import text_pieces
from chunkers.types import Piece, SizeLimit, SourceFile
from chunkers.windows import Level, Windows


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Fills chunks with neighbouring syntax nodes; enters a node that is too large; cuts a too large leaf as text.

    A file that fits is one chunk and is not parsed. Pieces tile the file: whitespace before a node's line goes to the
    previous chunk, the line's indentation stays with the node. With ``overlap``, each chunk also holds that many nodes
    of the previous and of the next chunk. With ``expansion``, its header names the file and the enclosing definitions.
    """

    size: int = 2000
    overlap: int = 0
    expansion: bool = False

    version: ClassVar[str] = f"1 ({GRAMMAR_PACK})"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        positive(self, "size")
        not_negative(self, "overlap")

    @property
    def limit(self) -> SizeLimit | None:
        """No chunk has more non-whitespace characters, except for overlap, which is added on top."""
        return None if self.overlap else SizeLimit("nws", self.size)

    def fallback(self, source: SourceFile) -> str | None:
        """Return why this file is cut by lines."""
        return no_tree(source) if len(source.data) > self.size else no_grammar(source)

    def split(self, source: SourceFile) -> list[Piece]:
        """Return pieces that tile the file, or overlap if requested."""
        data = source.data
        if not data:
            return []
        if len(data) <= self.size or (counts := nws_before(data))[len(data)] <= self.size:
            return [Piece(0, len(data), source.path if self.expansion else "")]
        root = parse(source)
        if root is None:
            path = source.path if self.expansion else ""
            return [piece._replace(header=path) for piece in text_pieces(data, limit=self.size)]
        windows = Windows(data, counts, self.size, merge_siblings=True, atoms=[] if self.overlap else None)
        windows.fill(root)
        pieces = list(map(Piece, windows.starts, [*windows.starts[1:], len(data)]))
        if self.expansion:
            pieces = list(_expanded(source, pieces, windows.levels))
        return _overlapping(pieces, windows.atoms, self.overlap) if windows.atoms else pieces


def _expanded(source: SourceFile, pieces: Sequence[Piece], levels: Sequence[Level]) -> Iterator[Piece]:
    """Yield the pieces with a header: the path, and the heads of the enclosing definitions."""
    scopes, signature = Scopes(source.language), functools.cache(signature_of)
    for piece, level in zip(pieces, levels, strict=True):
        around = scopes.around(level, piece.start)
        heads = [f"{'    ' * depth}{signature(node)}" for depth, node in enumerate(around)]
        yield piece._replace(header="\n".join([source.path, *heads]))


def _overlapping(pieces: list[Piece], atoms: list[int], overlap: int) -> list[Piece]:
    """Return each piece with the last nodes of the previous piece and the first nodes of the next one.

    If this makes two pieces equal, as with two halves of a file that both extend to its ends, the first remains.
    """
    widened: list[Piece] = []
    for index, piece in enumerate(pieces):
        start, end = piece.start, piece.end
        if index > 0:
            first = bisect_left(atoms, start) - overlap
            start = max(atoms[max(first, 0)], pieces[index - 1].start) if first > 0 else pieces[index - 1].start
        if index + 1 < len(pieces):
            last = bisect_left(atoms, end) + overlap
            end = min(atoms[last] if last < len(atoms) else pieces[-1].end, pieces[index + 1].end)
        if not widened or widened[-1][:2] != (start, end):
            widened.append(piece._replace(start=start, end=end))
    return widened
