"""`definitions`: one chunk per function, method and class head, with the comments and decorators before it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkers.definition_nodes import CUT_NODES
from chunkers.errors import UsageError
from chunkers.languages import GRAMMAR_PACK
from chunkers.outline import Definition, has_outline, outline
from chunkers.sizes import nws_before
from chunkers.syntax import no_tree, parse
from chunkers.text_cuts import text_cuts, text_pieces
from chunkers.types import Piece, SizeLimit, SourceFile

_WITHOUT_GRAMMAR = 2000
# What may follow a definition on its last line and still belong to it, and the blank lines after it.
_REST_OF_LINE = re.compile(rb"[ \t;,]*(?:(?://|#|--)[^\n]*|/\*[^\n]*\*/[ \t\r]*)?\r?(?:\n(?:[ \t\r]*\n)*|\Z)")
_WORD = re.compile(rb"[^\W_]|[\x80-\xff]")
_ENDED = frozenset({"ruby", "lua"})
_WORD_BUT_END = re.compile(rb"\b(?!end\b)\w|[\x80-\xff]")


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """Cuts before and after every definition; code between them is a chunk too, unless it only closes something.

    With ``size``, a chunk with more non-whitespace characters is cut as text. A file in a language whose definitions
    are not known is cut into lines of up to ``size`` (or 2000).
    """

    size: int | None = None

    version: ClassVar[str] = f"2 ({GRAMMAR_PACK})"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        if self.size is not None and self.size <= 0:
            raise UsageError(f"size must be above 0 or none, not {self.size}")

    @property
    def limit(self) -> SizeLimit | None:
        """No chunk has more non-whitespace characters, if a size is given."""
        return SizeLimit("nws", self.size) if self.size is not None else None

    def fallback(self, source: SourceFile) -> str | None:
        """Return why this file is cut by lines."""
        if not has_outline(source.language):
            return f"no definitions known for {source.language or 'this file name'}"
        return no_tree(source)

    def chosen(self, definitions: Sequence[Definition]) -> Sequence[Definition]:
        """Return the definitions to cut out: all of them."""
        return definitions

    def split(self, source: SourceFile) -> list[Piece]:
        """Return pieces that tile the file."""
        data = source.data
        root = parse(source) if has_outline(source.language) else None
        if source.language is None or root is None:
            return text_pieces(data, limit=self.size or _WITHOUT_GRAMMAR)
        cuts = definition_cuts(data, self.chosen(outline(root, CUT_NODES[source.language])))
        starts = list(_without_closings(data, cuts, _WORD_BUT_END if source.language in _ENDED else _WORD))
        if self.size is not None:
            starts = list(_within(data, starts, self.size))
        return list(map(Piece, starts, [*starts[1:], len(data)])) if data else []


def definition_cuts(data: bytes, definitions: Sequence[Definition]) -> list[int]:
    """Return the file's start and every offset before or after a definition, ascending."""
    cuts = {0}
    for definition in definitions:
        cuts.add(_line_start(data, definition.start))
        rest = _REST_OF_LINE.match(data, definition.end)
        cuts.add(rest.end() if rest else definition.end)
    cuts.discard(len(data))
    return sorted(cuts)


def _line_start(data: bytes, start: int) -> int:
    """Return the start of the line if only whitespace precedes the definition on it."""
    line = data.rfind(b"\n", 0, start) + 1
    return line if data[line:start].isspace() else start


def _without_closings(data: bytes, cuts: Sequence[int], word: re.Pattern[bytes]) -> Iterator[int]:
    """Yield the cuts except those before a part without any word, which is joined to the previous part."""
    for start, end in itertools.pairwise([*cuts, len(data)]):
        if start == 0 or word.search(data, start, end):
            yield start


def _within(data: bytes, starts: Sequence[int], limit: int) -> Iterator[int]:
    counts = nws_before(data)
    for start, end in itertools.pairwise([*starts, len(data)]):
        yield start
        yield from text_cuts(data, counts, start, end, limit=limit)
