"""Functions of a Python file by position."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from chunkers.captures import captures
from chunkers.languages import grammar, syntax_tree
from ground_truth.lines import LineRange
from ground_truth.miners.python_docstrings import python_definitions

if TYPE_CHECKING:
    from tree_sitter import Node, Query


class Function(NamedTuple):
    """A function, its signature as written, and its docstring."""

    name: str
    lines: LineRange
    """With decorators."""
    signature: str
    signature_lines: LineRange
    doc: str


def functions_of(data: bytes) -> list[Function]:
    """Return all functions and methods of a file in document order."""
    tree = syntax_tree("python", data)
    if tree is None:
        return []
    docs = {(one.start_line, one.end_line, one.name): one.doc for one in python_definitions(data)}
    nodes = captures(_query(), tree.root_node).get("function", [])
    return [_function(node, data, docs) for node in sorted(nodes, key=lambda node: node.start_byte)]


def function_at(functions: Sequence[Function], line: int, *, name: str) -> Function | None:
    """Return the innermost function of this name that holds a 1-based line below its first, or None."""
    holding = [one for one in functions if one.name == name and one.signature_lines.first < line <= one.lines.last]
    return holding[-1] if holding else None


def _function(node: Node, data: bytes, docs: dict[tuple[int, int, str], str]) -> Function:
    whole = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
    signature = data[node.start_byte : body.start_byte if body is not None else node.end_byte].rstrip()
    title = (name.text or b"").decode("utf-8", "replace") if name is not None else ""
    lines = LineRange(whole.start_point.row + 1, whole.end_point.row + 1)
    first = node.start_point.row + 1
    return Function(
        title,
        lines,
        " ".join(signature.decode("utf-8", "replace").split()),
        LineRange(first, first + signature.count(b"\n")),
        docs.get((*lines, title), ""),
    )


@functools.cache
def _query() -> Query:
    from tree_sitter import Query

    return Query(grammar("python"), "(function_definition) @function")
