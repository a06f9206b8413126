"""The definitions that enclose a window, derived from the nodes entered to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.definition_nodes import DEFINITION_NODES, DefinitionNodes
from chunkers.outline import definition_in

if TYPE_CHECKING:
    from tree_sitter import Node

    from chunkers.windows import Level

_MOST = 64
"""Naming each of 10,000 nested classes would make a header longer than any chunk."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A definition that was entered, and those around it."""

    node: Node
    begin: int
    """Where the wrapper of the definition begins."""
    outer: Scope | None


def entered(node: Node, outer: Scope | None, nodes: DefinitionNodes) -> Scope | None:
    """Return the innermost definition around a node's children, given the one around the node."""
    # A wrapper (for example, a decorator's) and the definition inside it are one.
    if outer is not None and _holds(node, outer.node):
        return outer
    definition = definition_in(node, nodes)
    return outer if definition is None else Scope(definition, node.start_byte, outer)


def enclosing(scope: Scope | None, start: int) -> list[Node]:
    """Return this definition and those around it that begin before an offset: the nearest 64, outermost first."""
    found: list[Node] = []
    while scope is not None and len(found) < _MOST:
        if scope.begin < start:
            found.append(scope.node)
        scope = scope.outer
    return found[::-1]


class Scopes:
    """The definitions around the windows of one file; each entered node is examined once."""

    def __init__(self, language: str | None) -> None:
        self._nodes = DEFINITION_NODES.get(language or "")
        self._known: dict[int, Scope | None] = {}

    def around(self, level: Level | None, start: int) -> list[Node]:
        """Return the definitions around a window that begins at this offset, outermost first, at most the nearest 64.

        A definition that begins with the window is not around it.
        """
        return enclosing(self._scope(level, self._nodes), start) if self._nodes else []

    def _scope(self, level: Level | None, nodes: DefinitionNodes) -> Scope | None:
        """Return the innermost definition entered to reach a level."""
        unknown: list[Level] = []
        while level is not None and id(level) not in self._known:
            unknown.append(level)
            level = level.parent
        scope = self._known[id(level)] if level is not None else None
        for inner in reversed(unknown):
            scope = self._known[id(inner)] = entered(inner.node, scope, nodes)
        return scope


def _holds(node: Node, definition: Node) -> bool:
    return node.start_byte <= definition.start_byte and definition.end_byte <= node.end_byte
