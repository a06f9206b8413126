"""Documentation of Julia: a string right above a definition, or in the ``@doc`` there."""

from __future__ import annotations

import re
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

from chunkers.syntax import last_tree
from ground_truth.miners.comment_blocks import last_row
from ground_truth.miners.doc_comments import count_lines
from ground_truth.miners.types import Definition

if TYPE_CHECKING:
    from tree_sitter import Node

_STRINGS = ("string_literal", "prefixed_string_literal")
_MACROS = ("macrocall_expression", "macro_argument_list")
_AROUND_CALLS = ("where_expression", "typed_expression")
_FUNCTIONS = ("function_definition", "macro_definition")
_NAME = re.compile(rb"(?:function|macro)?\s*(?:[\w.]+\.:?)?([^\s(.{]+?)\s*[({]")
_SIGNATURE = re.compile(r"(?:(?: {4}|\t).*\n+)+")
"""The calls that a docstring begins with: they are in the code."""


def julia_definitions(data: bytes) -> list[Definition]:
    """Return the documented definitions of a file in document order; for broken code, the parts that parse."""
    found: list[Definition] = []
    tree = last_tree("julia", data)
    waiting = [tree.root_node] if tree else []
    while waiting:
        nodes = waiting.pop().named_children
        # Modules may be nested.
        waiting += [inner for node in nodes if node.type == "module_definition" for inner in node.named_children]
        found += [
            _definition(above, texts, node, data)
            for above, node in pairwise(nodes)
            if node.start_point.row == last_row(above) + 1 and (texts := _texts(above, data))
        ]
    return sorted(found, key=lambda definition: definition.doc_spans)


def _definition(above: Node, texts: tuple[tuple[int, int], ...], node: Node, data: bytes) -> Definition:
    written = b"".join(data[start:end] for start, end in texts).decode("utf-8", "replace")
    doc = textwrap.dedent(written.replace("\r\n", "\n"))
    made = _function(node)
    name = _NAME.match(data, made.start_byte, made.end_byte) if made else None
    return Definition(
        name=name[1].decode("utf-8", "replace") if name else "",
        is_function=made is not None,
        start_line=node.start_point.row + 1,
        end_line=last_row(node) + 1,
        doc=_SIGNATURE.sub("", doc.lstrip("\n"), count=1).strip() if doc[:1].isspace() else doc.strip(),
        doc_spans=texts,
        body_lines=count_lines(data[node.start_byte : node.end_byte]) - (made is not None and made.type in _FUNCTIONS),
        comment_spans=((above.start_byte, above.end_byte),),
    )


def _texts(node: Node, data: bytes) -> tuple[tuple[int, int], ...]:
    """Return the bytes of a string without its interpolations, or those of a ``@doc``'s; none for any other node."""
    if node.type == "macrocall_expression" and data.startswith(b"@doc", node.start_byte):
        node = next(iter(node.named_children[-1].named_children), node)
    parts = (child for child in node.named_children if child.type == "content" and node.type in _STRINGS)
    return tuple((part.start_byte, part.end_byte) for part in parts)


def _function(node: Node) -> Node | None:
    """Return the function or macro that a node defines, if it does: in full, as ``f(x) = …``, or below a macro."""
    while node.type in _MACROS and node.named_children:
        node = node.named_children[-1]
    head = node.named_children[0] if node.type == "assignment" else None
    while head is not None and head.type in _AROUND_CALLS:
        head = next(iter(head.named_children), None)
    return node if node.type in _FUNCTIONS or (head is not None and head.type == "call_expression") else None
