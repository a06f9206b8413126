"""Greedy windows over a syntax tree: the walk that `cast` and `code-chunk` share.

Children do not tile their parent (between them are whitespace, and text that no child covers), so windows are not lists
of nodes but offsets: each window extends to the start of the next, and together they are the file.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from chunkers.text_cuts import text_cuts

if TYPE_CHECKING:
    from tree_sitter import Node, TreeCursor


_CLOSED = -1
_END = attrgetter("end_byte")


@dataclass(slots=True)
class Level:
    """A node that was entered because it is too large, while its children are put into windows."""

    node: Node
    parent: Level | None
    end: int
    """Where the node's share of the file ends."""
    covered: int
    """Where the part that is already in windows ends."""
    first_window: int
    cursor: TreeCursor | None = field(init=False)
    """At the node; None if children are looked up in a list."""

    def __post_init__(self) -> None:
        # Nodes with errors may have any number of direct children, which a cursor would count from the first each time.
        self.cursor = None if self.node.has_error else self.node.walk()

    def child_after(self, offset: int) -> Node | None:
        """Return the first child that ends after an offset; the children before it are covered now.

        Making Python's object of a node costs more than all else here: the children in between are not made.
        """
        cursor = self.cursor
        if cursor is None or (index := cursor.goto_first_child_for_byte(offset)) is None:
            return self._listed_after(offset)
        child = cursor.node
        cursor.goto_parent()
        if index and offset > self.covered:
            self._cover(self.node.child(index - 1))
        return child

    def _listed_after(self, offset: int) -> Node | None:
        """Do the same in a list of all children: a cursor may miss one that follows a hidden node."""
        count = self.node.child_count
        last = self.node.child(count - 1) if count and self.cursor is not None else None
        if last is not None and last.end_byte <= offset:
            self._cover(last)
            return None
        children = self.node.children
        index = bisect_right(children, offset, key=_END)
        if index:
            self._cover(children[index - 1])
        return children[index] if index < count else None

    def _cover(self, child: Node | None) -> None:
        if child is not None and child.end_byte > self.covered:
            self.covered = child.end_byte


@dataclass(slots=True)
class Windows:
    """Fills windows with syntax nodes of at most ``limit`` nws characters; no recursion, whatever the nesting."""

    data: bytes
    counts: memoryview
    """The file's `nws_before`."""
    limit: int
    merge_siblings: bool
    """Whether the windows inside one entered node are merged where two neighbours fit into one."""
    starts: list[int] = field(default_factory=list)
    """Where each window begins; after `fill` they tile the file."""
    levels: list[Level] = field(default_factory=list)
    """The level at which each window began."""
    atoms: list[int] | None = None
    """The start of each node (or part of a leaf) that was put into a window; a list if they are to be kept."""
    _room: int = _CLOSED
    """A node fits into the open window if the count at its end is at most this."""

    def fill(self, root: Node) -> None:
        """Put the whole file into windows."""
        level: Level | None = Level(root, None, len(self.data), 0, 0)
        while level is not None:
            inner = self._fill_until_entered(level)
            if inner is None:
                self._leave(level)
                level = level.parent
            else:
                level = inner
        self.starts[0] = 0

    def _fill_until_entered(self, level: Level) -> Level | None:
        """Put children into windows up to the first that is too large; return its level, or None at the end."""
        counts, limit, atoms = self.counts, self.limit, self.atoms
        while atoms is not None or counts[level.end] > self._room:
            offset = level.covered
            if self._room > counts[offset] and atoms is None:
                # A byte begins at most one character: what ends by here fits into the open window.
                offset += self._room - counts[offset]
            child = level.child_after(offset)
            if child is None:
                if counts[level.end] != counts[level.covered]:
                    self._add_text(level, level.covered, level.end)
                return None
            end = child.end_byte
            if counts[end] <= self._room:  # it goes into the open window, with what precedes it
                if atoms is not None:
                    atoms.append(self._line_start(level.covered, child.start_byte))
                level.covered = end
                continue
            start = max(child.start_byte, level.covered)
            if counts[start] != counts[level.covered]:
                self._add_text(level, level.covered, start)
            if counts[end] - counts[start] <= limit:
                self._add(level, start, end)
            elif child.child_count:
                self._close(level)
                begin = self._line_start(level.covered, start)
                level.covered = end
                return Level(child, level, end, begin, len(self.starts))
            else:
                self._add_text(level, start, end)
        level.covered = level.end
        return None

    def _add(self, level: Level, start: int, end: int) -> None:
        """Put a span that fits into the open window, or into a new one."""
        begin = self._line_start(level.covered, start)
        if self.counts[end] > self._room:
            self._close(level)
            self._begin(level, begin)
        elif self.atoms is not None:
            self.atoms.append(begin)
        level.covered = end

    def _add_text(self, level: Level, start: int, end: int) -> None:
        """Put a span without inner syntax into windows, cut as text if it is too large."""
        if self.counts[end] - self.counts[start] <= self.limit:
            self._add(level, start, end)
            return
        self._close(level)
        first, begin = len(self.starts), self._line_start(level.covered, start)
        for cut in (begin, *text_cuts(self.data, self.counts, start, end, limit=self.limit)):
            self._begin(level, cut)
        self._room = _CLOSED
        level.covered = end
        self._merge(level, first, end)

    def _begin(self, level: Level, start: int) -> None:
        if self.starts and (start <= self.starts[-1] or start >= len(self.data)):
            # Some grammars have a node at the previous one's start, or at the end: a window there would be empty.
            self.levels[-1] = level
        else:
            self.starts.append(start)
            self.levels.append(level)
        if self.atoms is not None:
            self.atoms.append(start)
        self._room = self.counts[start] + self.limit

    def _close(self, level: Level) -> None:
        if self._room != _CLOSED:
            self._room = _CLOSED
            self._merge(level, len(self.starts) - 1, level.covered)

    def _leave(self, level: Level) -> None:
        self._close(level)
        if level.parent is not None:
            self._merge(level.parent, level.first_window, level.end)

    def _merge(self, level: Level, index: int, end: int) -> None:
        """Join a window to the previous one if both belong to this level's node and fit together.

        Called as each window closes, this is equivalent to one pass from left to right when the node is left: two
        neighbours that were not joined then cannot be joined later.
        """
        if not self.merge_siblings or level.parent is None or not level.first_window < index < len(self.starts):
            return
        if index + 1 < len(self.starts):
            end = self.starts[index + 1]
        if self.counts[end] - self.counts[self.starts[index - 1]] <= self.limit:
            del self.starts[index], self.levels[index]

    def _line_start(self, covered: int, start: int) -> int:
        """Return where a window that begins with this node begins: with its line, if only whitespace precedes it."""
        newline = self.data.rfind(b"\n", covered - 1 if covered else 0, start)
        return newline + 1 if newline >= 0 else start
