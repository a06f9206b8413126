"""The syntax tree of a source file, where its language has a grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.languages import LARGEST_PARSED, known_languages, parser
from chunkers.types import SourceFile

if TYPE_CHECKING:
    from tree_sitter import Node


def no_grammar(source: SourceFile) -> str | None:
    """Return why the file cannot be parsed, or None where it can."""
    if source.language not in known_languages():
        return f"no grammar for {source.language or 'this file name'}"
    largest = LARGEST_PARSED.get(source.language)
    if largest is not None and len(source.data) > largest:
        return f"{source.language} is parsed up to {largest // 1000} kB: its grammar is slow on long files"
    return None


def parse(source: SourceFile) -> Node:
    """Return the root of the file's tree; broken code has one too, with error nodes in it."""
    assert source.language is not None  # noqa: S101 - callers ask `no_grammar` first
    return parser(source.language).parse(source.data).root_node
