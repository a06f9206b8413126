"""Docstrings of Python: the string at the start of a function's or class's body."""

from __future__ import annotations

import functools
import textwrap
from typing import TYPE_CHECKING

from chunkers.captures import captures
from chunkers.languages import grammar
from chunkers.syntax import last_tree
from ground_truth.miners.types import Definition

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_DEFINITIONS = "[(function_definition) (class_definition)] @definition"


def python_definitions(data: bytes) -> list[Definition]:
    """Return the documented definitions of a Python file in document order; for broken code, the parts that parse."""
    tree = last_tree("python", data)
    if tree is None:
        return []
    nodes = captures(_query(), tree.root_node).get("definition", [])
    found = [definition for node in nodes if (definition := _definition(node, data))]
    return sorted(found, key=lambda definition: (definition.doc_spans, definition.start_line))


@functools.cache
def _query() -> Query:
    from tree_sitter import Query

    return Query(grammar("python"), _DEFINITIONS)


def _definition(node: Node, data: bytes) -> Definition | None:
    body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
    strings = _docstring(body, data) if body else []
    if not strings or body is None or name is None:
        return None
    whole = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    decorators = data[whole.start_byte : node.start_byte]
    rest = data[strings[-1].end_byte : body.end_byte]
    spans = tuple(span for string in strings if (span := _inside(string)))
    return Definition(
        name=name.text.decode("utf-8", "replace") if name.text else "",
        is_function=node.type == "function_definition",
        start_line=whole.start_point.row + 1,
        end_line=whole.end_point.row + 1,
        doc=_text(data, spans),
        doc_spans=spans,
        body_lines=sum(1 for line in rest.split(b"\n") if line.strip()),
        is_overload=b"overload" in decorators or b"abstractmethod" in decorators,
        comment_spans=((strings[0].start_byte, strings[-1].end_byte),),
    )


def _docstring(body: Node, data: bytes) -> list[Node]:
    """Return the string nodes of the docstring, several if literals are concatenated."""
    first = next((child for child in body.named_children if child.type != "comment"), None)
    if first is None or first.type not in ("string", "concatenated_string"):
        return []
    strings = first.named_children if first.type == "concatenated_string" else [first]
    if any(string.type != "string" or _prefix(string, data) & set(b"fFbBtT") for string in strings):
        return []
    return list(strings)


def _prefix(string: Node, data: bytes) -> set[int]:
    opening = string.children[0] if string.children else string
    return set(data[opening.start_byte : opening.end_byte])


def _inside(string: Node) -> tuple[int, int] | None:
    """Return the bytes between the quotes, or None for an empty or unfinished string."""
    if string.child_count < 2 or string.children[-1].type != "string_end":
        return None
    start, end = string.children[0].end_byte, string.children[-1].start_byte
    return (start, end) if end > start else None


def _text(data: bytes, spans: tuple[tuple[int, int], ...]) -> str:
    text = "".join(data[start:end].decode("utf-8", "replace") for start, end in spans).replace("\r\n", "\n")
    first, _, rest = text.partition("\n")
    return f"{first.strip()}\n{textwrap.dedent(rest)}".strip()
