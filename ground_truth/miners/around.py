"""The nodes around ascending places of a file, from the root down: each search for a parent begins at the root, too."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from tree_sitter import Node

T = TypeVar("T")
_END = attrgetter("end_byte")


class Entered(NamedTuple, Generic[T]):
    """A node around the current place."""

    node: Node
    children: list[Node]
    known: T
    """What its user knows about places in it."""


class Child(NamedTuple):
    """A node by its place among its parent's children."""

    parent: Node
    siblings: list[Node]
    place: int

    @property
    def node(self) -> Node:
        """The node itself."""
        return self.siblings[self.place]


class Around(Generic[T]):
    """The nodes around ascending places of one file; each node is entered once."""

    def __init__(self, root: Node, known: Callable[[Node, T | None], T]) -> None:
        """``known`` tells what is known in a node, from what is known in its parent."""
        self._known = known
        self._stack = [Entered(root, root.children, known(root, None))]

    def move_to(self, inner: Node) -> T:
        """Return what is known in the parent of a node, which begins no earlier than those before it."""
        stack = self._stack
        while len(stack) > 1 and stack[-1].node.end_byte <= inner.start_byte:
            stack.pop()
        while (child := _child_at(stack[-1].node, stack[-1].children, inner.start_byte)) and child.node != inner:
            stack.append(Entered(child.node, child.node.children, self._known(child.node, stack[-1].known)))
        return stack[-1].known

    def beginning_at(self, start: int) -> list[Child]:
        """Return the nodes that begin at a byte, outermost first; the byte is behind the current place."""
        count = bisect_left(self._stack, -start, key=lambda entered: -entered.node.end_byte)
        found: list[Child] = []
        child = _child_at(self._stack[count - 1].node, self._stack[count - 1].children, start) if count else None
        while child:
            if child.node.start_byte == start:
                found.append(child)
            child = _child_at(child.node, child.node.children, start)
        return found


def _child_at(parent: Node, children: list[Node], place: int) -> Child | None:
    """Return the child that holds a byte, if one does."""
    index = bisect_right(children, place, key=_END)
    is_held = index < len(children) and children[index].start_byte <= place
    return Child(parent, children, index) if is_held else None
