"""A file's definitions, found in its syntax tree without descending into functions."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from chunkers.definition_nodes import DEFINITION_NODES, DefinitionNodes

if TYPE_CHECKING:
    from tree_sitter import Node

    _Found: TypeAlias = tuple[int, int, Node] | Iterator["_Found"]

_FUNCTION_VALUES = frozenset("arrow_function function_expression generator_function class function_definition".split())
_VARIABLES = frozenset("lexical_declaration variable_declaration".split())
_BODILESS_IS_USE = frozenset("struct_specifier class_specifier union_specifier enum_specifier".split())
_SPACES = re.compile(r"\s+")
_LONGEST_SIGNATURE = 160


@dataclass(frozen=True, slots=True)
class Definition:
    """One function, class or method, with the comments and decorators before it."""

    start: int
    """Start of its first comment, decorator or word."""
    end: int
    node: Node
    """The definition itself, without its wrappers."""
    parent: int | None
    """The index of the enclosing definition in the outline."""


def signature_of(node: Node) -> str:
    """Return the part before a definition's body, on one line."""
    body = node.child_by_field_name("body") or next(
        (child for child in node.children if child.type.endswith(("body", "block"))), None
    )
    end = body.start_byte if body is not None else node.end_byte
    text = (node.text or b"")[: end - node.start_byte].decode("utf-8", "replace")
    line = _SPACES.sub(" ", text if body is not None else text.split("\n", 1)[0]).strip(" {:=")
    return line if len(line) <= _LONGEST_SIGNATURE else line[: _LONGEST_SIGNATURE - 1] + "…"


def name_of(node: Node) -> str:
    """Return a definition's name as written, or its signature if the grammar has no name for it."""
    named = _named(node)
    return text_of(named) if named is not None else signature_of(node)


def text_of(node: Node) -> str:
    """Return the node's text, with bytes that are not UTF-8 as replacement characters."""
    return (node.text or b"").decode("utf-8", "replace")


def has_outline(language: str | None) -> bool:
    """Return whether the definition nodes of this language are known."""
    return language in DEFINITION_NODES


@functools.lru_cache(maxsize=2)
def outline(root: Node, nodes: DefinitionNodes) -> Sequence[Definition]:
    """Return the definitions in document order, each after the one that encloses it.

    Those of the last tree are cached: a run has several chunkers and sizes that cut by definitions or name them.
    """
    found: list[Definition] = []
    pending: list[Iterator[_Found]] = [_children(root, nodes)]
    owners: list[int | None] = [None]
    while pending:
        item = next(pending[-1], None)
        if item is None:
            pending.pop()
            owners.pop()
        elif isinstance(item, tuple):
            start, end, node = item
            found.append(Definition(start, end, node, owners[-1]))
            if node.type in nodes.containers:
                pending.append(_children(node, nodes))
                owners.append(len(found) - 1)
        else:
            pending.append(item)
            owners.append(owners[-1])
    return tuple(found)


def _children(
    parent: Node, nodes: DefinitionNodes, lead: Node | None = None, last: Node | None = None
) -> Iterator[_Found]:
    """Yield a node's definitions as (start, end, definition), and for its other parts what is found inside them.

    ``lead`` and ``last`` are the first and the last comment right before the node: they belong to a definition at the
    node's start.
    """
    for child in _parts(parent, nodes):
        kind = child.type
        if kind in nodes.leading:
            if lead is None or not _touches(last, child):
                lead = child if last is None or _begins_line(last, child) else None
            last = child
            continue
        if not _touches(last, child):
            lead = None
        definition = definition_in(child, nodes)
        if definition is not None:
            yield lead.start_byte if lead is not None else child.start_byte, code_end(child, nodes.leading), definition
        elif kind in nodes.transparent:
            yield _children(child, nodes, lead, last if lead is not None else None)
        lead, last = None, child


def _parts(parent: Node, nodes: DefinitionNodes) -> Iterator[Node]:
    """Yield a node's children, and after each the trailing comments that its grammar includes in it.

    An import that includes the comments after it is replaced by its children.
    """
    for child in parent.children:
        if child.type in nodes.taking_comments:
            yield from _parts(child, nodes)
        else:
            yield child
            yield from comments_taken_in(child, nodes.leading)


def code_end(node: Node, comments: Container[str]) -> int:
    """Return where a node's code ends, without trailing whitespace and comments."""
    taken_in = comments_taken_in(node, comments)
    stop = taken_in[0].start_byte if taken_in else node.end_byte
    return node.start_byte + len((node.text or b"")[: stop - node.start_byte].rstrip())


def comments_taken_in(node: Node, comments: Container[str]) -> list[Node]:
    """Return the comments at a node's end that are no deeper than it, and so belong to what follows.

    A body delimited only by indentation, as in Scala, extends to the next word, over the comments before that.
    """
    taken_in: list[Node] = []
    if node.end_point.row == node.start_point.row or not _ends_in_comment(node, comments):
        return taken_in
    inner = node
    while inner.children and (inner.end_point.row > node.start_point.row):
        parts = inner.children
        count = len(parts)
        while count and _is_below(parts[count - 1], node, comments):
            count -= 1
        taken_in[:0] = parts[count:]
        if not count:
            break
        inner = parts[count - 1]
    return taken_in


def _ends_in_comment(node: Node, comments: Container[str]) -> bool:
    """Return whether a node's last visible byte is of a comment; the way to it from child to child may be very long."""
    end = node.start_byte + len((node.text or b"").rstrip())
    last = node.descendant_for_byte_range(end - 1, end) if end > node.start_byte else None
    return last is not None and (last.type in comments or (last.parent is not None and last.parent.type in comments))


def _is_below(part: Node, node: Node, comments: Container[str]) -> bool:
    at = part.start_point
    return part.type in comments and at.row > node.start_point.row and at.column <= node.start_point.column


def definition_in(node: Node, nodes: DefinitionNodes) -> Node | None:
    """Return the definition that a node is or wraps."""
    pending = [node]
    while pending:
        node = pending.pop()
        if node.type in nodes.wrappers:
            pending += reversed(_wrapped(node))
        elif _is_definition(node, nodes):
            return node
    return None


def _wrapped(node: Node) -> list[Node]:
    """Return the candidate for the definition in a wrapper; a C++ member of an unnamed type is data."""
    if node.type != "field_declaration":
        return node.named_children
    return [child for child in node.named_children if child.child_by_field_name("name") is not None]


def _is_definition(node: Node, nodes: DefinitionNodes) -> bool:
    kind = node.type
    if (kind in nodes.simple or kind in nodes.containers) and node.is_named:
        needs_body = kind in _BODILESS_IS_USE or (kind == "type_definition" and node.child_count)
        return not needs_body or _has_body(node)
    if kind in nodes.fields:
        holder = node.named_children[-1] if kind == "assignment_statement" and node.named_children else node
        return _is_function(holder.child_by_field_name("value"))
    return kind in _VARIABLES and _value_is_function(node)


def _has_body(node: Node) -> bool:
    inner = node.child_by_field_name("type") if node.type == "type_definition" else node
    return inner is not None and inner.child_by_field_name("body") is not None


def _value_is_function(node: Node) -> bool:
    return any(_is_function(child.child_by_field_name("value")) for child in node.named_children)


def _is_function(value: Node | None) -> bool:
    return value is not None and value.type in _FUNCTION_VALUES


def _touches(last: Node | None, node: Node) -> bool:
    """Return whether no blank line is between two nodes; a comment may include its own line end."""
    return last is not None and node.start_point.row - last.end_point.row <= (last.end_point.column > 0)


def _begins_line(last: Node, comment: Node) -> bool:
    """Return whether a comment starts its line, with no code before it; one included in ``last`` never does."""
    is_taken_in = comment.end_byte <= last.end_byte
    return is_taken_in or comment.start_point.row > last.end_point.row or last.end_point.column == 0


def _named(node: Node) -> Node | None:
    """Return the node that names a definition: its name, or what remains after removing declarators."""
    found: Node | None = None
    while (inner := _name_or_declarator(node)) is not None:
        found, peel = inner
        if not peel:
            break
        node = found
    return found


def _name_or_declarator(node: Node) -> tuple[Node, bool] | None:
    """Return the part of a node that holds its name, and whether the name may be deeper in it."""
    if node.type in _VARIABLES:
        node = node.named_children[0]
    for name in ("name", "declarator", "type"):
        inner = node.child_by_field_name(name)
        if inner is not None:
            return inner, name == "declarator"
    # Go's type declaration contains its spec, and C++'s reference its declarator, without naming the field.
    inner_types = ("_spec", "identifier", "declarator")
    return next(((child, True) for child in node.named_children if child.type.endswith(inner_types)), None)
