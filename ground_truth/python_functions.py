"""Functions of a Python file by position."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from chunkers.languages import grammar, parser
from ground_truth.lines import LineRange
from ground_truth.miners.python_docstrings import python_definitions

if TYPE_CHECKING:
    from tree_sitter import Node, Query


class Function(NamedTuple):
    """A function with its decorators, its signature as written, and its docstring."""

    lines: LineRange
    signature: str
    signature_lines: LineRange
    doc: str


def function_at(data: bytes, line: int, *, name: str) -> Function | None:
    """Return the innermost function of this name whose body holds a 1-based line, or None."""
    from tree_sitter import QueryCursor

    tree = parser("python").parse(data)
    nodes = [
        node
        for node in QueryCursor(_query()).captures(tree.root_node).get("function", [])
        if node.start_point.row < line <= node.end_point.row + 1 and _name(node) == name
    ]
    if not nodes:
        return None
    node = max(nodes, key=lambda node: node.start_byte)
    whole = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    body = node.child_by_field_name("body")
    end = body.start_byte if body is not None else node.end_byte
    signature = data[node.start_byte : end].split(b"\n    #")[0].rstrip()
    lines = LineRange(whole.start_point.row + 1, whole.end_point.row + 1)
    docs = {(one.start_line, one.end_line): one.doc for one in python_definitions(data)}
    first = node.start_point.row + 1
    return Function(
        lines,
        " ".join(signature.decode("utf-8", "replace").split()),
        LineRange(first, first + signature.count(b"\n")),
        docs.get((lines.first, lines.last), ""),
    )


def _name(node: Node) -> str:
    found = node.child_by_field_name("name")
    return (found.text or b"").decode("utf-8", "replace") if found is not None else ""


@functools.cache
def _query() -> Query:
    from tree_sitter import Query

    return Query(grammar("python"), "(function_definition) @function")
