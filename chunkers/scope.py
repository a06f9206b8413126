"""The definitions that enclose a window, derived from the nodes entered to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.definition_nodes import DEFINITION_NODES
from chunkers.outline import definition_in
from chunkers.windows import Level

if TYPE_CHECKING:
    from tree_sitter import Node

# Naming each of 10,000 nested classes would make a header longer than any chunk.
_MOST = 64


@dataclass(frozen=True, slots=True)
class _Scope:
    """A definition that was entered, and those around it."""

    node: Node
    begin: int
    """Where the wrapper of the definition begins."""
    outer: _Scope | None


class Scopes:
    """The definitions around the windows of one file; each entered node is examined once."""

    def __init__(self, language: str | None) -> None:
        self._nodes = DEFINITION_NODES.get(language or "")
        self._known: dict[int, _Scope | None] = {}

    def around(self, level: Level | None, start: int) -> list[Node]:
        """Return the definitions around a window that begins at this offset, outermost first, at most the nearest 64.

        A definition that begins with the window is not around it.
        """
        scope = self._scope(level)
        found: list[Node] = []
        while scope is not None and len(found) < _MOST:
            if scope.begin < start:
                found.append(scope.node)
            scope = scope.outer
        return found[::-1]

    def _scope(self, level: Level | None) -> _Scope | None:
        """Return the innermost definition entered to reach a level."""
        unknown: list[Level] = []
        while level is not None and id(level) not in self._known:
            unknown.append(level)
            level = level.parent
        scope = self._known[id(level)] if level is not None else None
        for inner in reversed(unknown):
            scope = self._known[id(inner)] = self._entered(inner.node, scope)
        return scope

    def _entered(self, node: Node, outer: _Scope | None) -> _Scope | None:
        # A wrapper (for example, a decorator's) and the definition inside it are one.
        if self._nodes is None or (outer is not None and _holds(node, outer.node)):
            return outer
        definition = definition_in(node, self._nodes)
        return outer if definition is None else _Scope(definition, node.start_byte, outer)


def _holds(node: Node, definition: Node) -> bool:
    return node.start_byte <= definition.start_byte and definition.end_byte <= node.end_byte
