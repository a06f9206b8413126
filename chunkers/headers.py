"""Headers for every chunker: none, the path, or the path and the enclosing definitions.

Embedders and retrievers read a header above the chunk's text; it does not affect where the file is cut. ``header=path``
and ``header=scope`` can be written in any chunker's spec; in Python, call ``with_header(chunker, "scope")``. A
chunker's own header (cast's ``expansion``, code-chunk's ``header=true``) is unchanged.
"""

from __future__ import annotations

import dataclasses
import functools
from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chunkers.definition_nodes import DEFINITION_NODES, DefinitionNodes
from chunkers.outline import has_outline, signature_of
from chunkers.scope import Scope, enclosing, entered
from chunkers.syntax import parse
from chunkers.types import Chunker, Piece, SourceFile

if TYPE_CHECKING:
    from tree_sitter import Node

Header = Literal["none", "path", "scope"]
HEADERS: tuple[str, ...] = get_args(Header)
_END = attrgetter("end_byte")


def with_header(chunker: Chunker, header: Header) -> Chunker:
    """Return a chunker that cuts like this one and gives each chunk this header instead of its own."""
    plain: Any = chunker
    cls: Any = type(plain)
    titled = _titled(cls)
    values = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain) if field.init}
    made: Chunker = titled(**{**values, "header": header})
    return made


def add_headers(source: SourceFile, pieces: Sequence[Piece], header: Header) -> list[Piece]:
    """Return the pieces with this header: the path, then the heads of the enclosing definitions."""
    path = source.path if header != "none" else ""
    root = parse(source) if header == "scope" and has_outline(source.language) else None
    if root is None:
        return [piece._replace(header=path) for piece in pieces]
    enclosing = _Enclosing(root, DEFINITION_NODES[source.language or ""])
    signature = functools.cache(signature_of)
    titled = []
    for piece in pieces:
        heads = [f"{'    ' * depth}{signature(node)}" for depth, node in enumerate(enclosing.at(piece.start))]
        titled.append(piece._replace(header="\n".join([path, *heads])))
    return titled


class _Entered(NamedTuple):
    """A node that contains the offset, its children, and the innermost definition around them."""

    node: Node
    children: list[Node]
    scope: Scope | None


class _Enclosing:
    """The definitions around ascending offsets of one file; each node is entered once."""

    def __init__(self, root: Node, nodes: DefinitionNodes) -> None:
        self._nodes = nodes
        self._stack = [_Entered(root, root.children, None)]

    def at(self, start: int) -> list[Node]:
        """Return the definitions that begin before the offset and hold it, outermost first, at most the nearest 64."""
        stack = self._stack
        while len(stack) > 1 and stack[-1].node.end_byte <= start:
            stack.pop()
        while True:
            children = stack[-1].children
            index = bisect_right(children, start, key=_END)
            if index == len(children) or children[index].start_byte > start:
                break
            stack.append(self._enter(children[index], stack[-1].scope))
        return enclosing(stack[-1].scope, start)

    def _enter(self, node: Node, outer: Scope | None) -> _Entered:
        return _Entered(node, node.children, entered(node, outer, self._nodes))


@functools.cache
def _titled(cls: type) -> Callable[..., Any]:
    """Return the class with a parameter ``header``, under the same name, so that specs and tables do not change."""
    if getattr(cls, "untitled", None) is not None:
        return cls

    def split(self: Any, source: SourceFile) -> list[Piece]:  # noqa: ANN401 - an instance of the class made below
        return add_headers(source, _plain(self).split(source), self.header)

    def reduce(self: Any) -> tuple[Any, ...]:  # noqa: ANN401 - an instance of the class made below
        return with_header, (_plain(self), self.header)

    made = type(
        cls.__name__,
        (cls,),
        {
            "__annotations__": {"header": Header},
            "__doc__": cls.__doc__,
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__reduce__": reduce,
            "header": "none",
            "split": split,
            "untitled": cls,
        },
    )
    return dataclasses.dataclass(frozen=True, kw_only=True)(made)


@functools.lru_cache(maxsize=64)
def _plain(chunker: Any) -> Any:  # noqa: ANN401 - an instance of a class that `_titled` made
    """Return the chunker without the parameter; its own header is switched off."""
    cls = chunker.untitled
    values = {field.name: getattr(chunker, field.name) for field in dataclasses.fields(cls) if field.init}
    return cls(**({**values, "header": False} if "header" in values else values))
