"""The syntax tree of a source file, if its language has a grammar."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.languages import LARGEST_PARSED, known_languages, syntax_tree
from chunkers.types import SourceFile
from chunkers.unsafe_texts import unsafe_text

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


@dataclass
class SharedTree:
    """The tree of the last parsed file."""

    data: bytes | None = None
    language: str | None = None
    tree: Tree | None = None
    seconds: float = 0.0
    """Seconds that the parse took."""
    parsed: int = 0
    """Files parsed so far."""
    reused: int = 0
    """How often an existing tree was reused."""

    def tree_of(self, source: SourceFile) -> Tree | None:
        """Return a file's tree, parsed now unless it is the last one; None if its grammar takes too long."""
        # The same bytes object, not equal ones: comparing them would take as long as many a walk.
        if self.data is source.data and self.language == source.language:
            self.reused += 1
            return self.tree
        self.data = self.tree = None  # freed first: see `LastTree`
        began = time.perf_counter()
        self.tree = syntax_tree(source.language or "", source.data)
        self.data, self.language, self.seconds = source.data, source.language, time.perf_counter() - began
        self.parsed += 1
        return self.tree


_shared: ContextVar[SharedTree | None] = ContextVar("_shared", default=None)


@contextmanager
def shared_tree() -> Iterator[SharedTree]:
    """Parse a file once while the block runs, however many chunkers need its tree; one tree is held at a time."""
    tree = SharedTree()
    token = _shared.set(tree)
    try:
        yield tree
    finally:
        _shared.reset(token)


def no_grammar(source: SourceFile) -> str | None:
    """Return why the file is not parsed, or None if parsing is tried."""
    if source.language not in known_languages():
        return f"no grammar for {source.language or 'this file name'}"
    largest = LARGEST_PARSED.get(source.language)
    if largest is not None and len(source.data) > largest:
        return f"{source.language} is parsed up to {largest // 1000} kB: its grammar is slow on long files"
    return unsafe_text(source.language, source.data) or None


def no_tree(source: SourceFile) -> str | None:
    """Return why the file has no tree, or None if it has one; this parses the file."""
    if reason := no_grammar(source):
        return reason
    return None if parse(source) else f"the {source.language} grammar takes too long for it"


def parse(source: SourceFile) -> Node | None:
    """Return the root of the file's tree, or None if `no_tree` has a reason."""
    if source.language is None or no_grammar(source):
        return None
    tree = last_tree(source.language, source.data) if (scope := _shared.get()) is None else scope.tree_of(source)
    return tree.root_node if tree else None


class LastTree:
    """Parses texts and keeps the last tree.

    A file is cut, its fallback is counted, its headers are written and each kind of query is mined, one after the
    other.
    """

    def __init__(self) -> None:
        self._held: tuple[str, bytes, Tree | None] | None = None

    def __call__(self, language: str, data: bytes) -> Tree | None:
        """Return the tree of a text, or None if its grammar takes too long."""
        held = self._held
        if held is not None and held[:2] == (language, data):
            return held[2]
        # The last tree is freed first, so that the new one takes its memory, which is in the processor's caches.
        self._held = held = None
        tree = syntax_tree(language, data)
        self._held = (language, data, tree)
        return tree


last_tree = LastTree()
