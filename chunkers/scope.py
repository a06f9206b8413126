"""The definitions that enclose a window, known from the nodes that were entered to reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.definition_nodes import DEFINITION_NODES
from chunkers.outline import definition_in
from chunkers.windows import Level

if TYPE_CHECKING:
    from tree_sitter import Node


def enclosing_definitions(level: Level | None, start: int, language: str | None) -> list[Node]:
    """Return the definitions around a window that begins at this offset, outermost first.

    A definition that the window itself begins is not around it.
    """
    nodes = DEFINITION_NODES.get(language or "")
    found: list[Node] = []
    while nodes is not None and level is not None:
        node = definition_in(level.node, nodes)
        # A wrapper (a decorator's, say) and the definition inside it are one.
        if node is not None and level.node.start_byte < start and node not in found:
            found.append(node)
        level = level.parent
    return found[::-1]
