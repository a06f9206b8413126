"""Syntax colours computed when the page is built: comments, strings, numbers and keywords, by the grammar."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from chunkers.file_work import each_file
from chunkers.languages import language_of
from chunkers.sources import Skipped
from chunkers.syntax import parse
from chunkers.types import SourceFile

if TYPE_CHECKING:
    from tree_sitter import Node

_LARGEST = 200_000
"""Largest file, in bytes, that is coloured."""
_KINDS = {"comment": "c", **dict.fromkeys(("string", "char", "rune"), "s")}
_KINDS |= dict.fromkeys(("number", "integer", "int_literal", "float"), "n")
"""Part of a node's name → letter of its colour."""


class Coloured(NamedTuple):
    """A half-open character range of a text, and the letter of its colour."""

    start: int
    end: int
    letter: str


def coloured(path: str, text: str) -> list[Coloured]:
    """Return the coloured ranges in order; none if the language has no grammar or the text is very long."""
    return _coloured(_source(path, text))


def _coloured(source: SourceFile) -> list[Coloured]:
    data = source.data
    root = parse(source) if len(data) <= _LARGEST else None
    if root is None:
        return []
    spans = list(_spans(root, data))
    if data.isascii():
        return [Coloured(*span) for span in spans]
    return list(_characters(spans, data))


def _spans(root: Node, data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield start byte, end byte and letter; nodes inside a comment or string are skipped."""
    letters: dict[int, str] = {}
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None  # noqa: S101 - the cursor is on a node
        kind = node.kind_id
        if kind not in letters:
            letters[kind] = _letter(node)
        letter = letters[kind]
        if letter and _shows(letter, start := node.start_byte, end := node.end_byte, data):
            yield start, end, letter
        elif cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _letter(node: Node) -> str:
    """Return the colour of all nodes of this kind, or nothing."""
    kind = node.type
    if not node.is_named:
        # Keywords are the anonymous nodes of a grammar that are words; the others are operators.
        return "k" if kind.isalpha() else ""
    return "" if "identifier" in kind else next((letter for part, letter in _KINDS.items() if part in kind), "")


def _shows(letter: str, start: int, end: int, data: bytes) -> bool:
    """Return whether there is anything to colour: a grammar may insert a node that is not in the text."""
    return data[start:end].isalpha() if letter == "k" else start < end


def _characters(spans: list[tuple[int, int, str]], data: bytes) -> Iterator[Coloured]:
    """Yield the spans in characters instead of bytes."""
    at = count = 0
    for start, end, letter in spans:
        count += len(data[at:start].decode("utf-8", "replace"))
        first = count
        count += len(data[start:end].decode("utf-8", "replace"))
        at = end
        yield Coloured(first, count, letter)


def all_colours(texts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the packed colours of many texts, by path and text; cached while the texts are unchanged."""
    return [zlib.decompress(file.record).decode() for file in each_file(_Texts(texts), "colours", _record)]


@dataclass(frozen=True)
class _Texts:
    """Texts in the role of a repository's files."""

    texts: Sequence[tuple[str, str]]
    name: str = "shown"
    skipped: Sequence[Skipped] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the texts in order; several may belong to one file."""
        return (_source(path, text) for path, text in self.texts)

    def read(self, path: str) -> SourceFile | None:
        """Return the first text of a file."""
        return next((source for source in self.files() if source.path == path), None)


def _source(path: str, text: str) -> SourceFile:
    data = text.encode("utf-8", "replace")
    return SourceFile(path, data, language_of(path, data))


def _record(source: SourceFile) -> bytes:
    return zlib.compress(_packed(source).encode(), 1)


def _packed(source: SourceFile) -> str:
    """Pack the ranges into a short text: for each the gap before it, its length and its letter, such as 4.3k."""
    said, at = [], 0
    for start, end, letter in _coloured(source):
        said.append(f"{start - at or ''}.{end - start}{letter}")
        at = end
    return "".join(said)
