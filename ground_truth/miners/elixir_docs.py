"""Documentation of Elixir: the string of ``@doc`` above a function, whose clauses form one definition."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkers.syntax import last_tree
from ground_truth.miners.doc_comments import count_lines
from ground_truth.miners.types import Definition

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINES = frozenset((b"def", b"defp", b"defmacro", b"defmacrop", b"defguard", b"defdelegate"))
_MOST_ATTRIBUTES = 64
"""Above a function; each of thousands of ``@doc`` in a row would have all that follow it."""
_NAME = re.compile(rb"def\w*\s+(?:unquote\()?([\w?!]+)")
_CALLBACK = re.compile(rb"@(?:macro)?callback\b")
_DOC = re.compile(rb"@(?:doc|moduledoc|typedoc)\b")


def elixir_definitions(data: bytes) -> list[Definition]:
    """Return the documented functions of a file in document order; for broken code, the parts that parse."""
    found: list[Definition] = []
    tree = last_tree("elixir", data)
    waiting = [tree.root_node] if tree else []
    while waiting:
        node = waiting.pop()
        # Functions are in the body of a module, which may be nested.
        waiting += [inner for child in node.named_children if child.type == "call" for inner in child.named_children]
        if node.type in ("do_block", "source"):
            found += _documented(node.named_children, data)
    return sorted(found, key=lambda definition: (definition.doc_spans, definition.start_line))


def _documented(nodes: list[Node], data: bytes) -> Iterator[Definition]:
    code = [node for node in nodes if node.type != "comment"]
    for following, node in enumerate(code, 1):
        strings = _strings(node, data)
        if strings is None:
            continue
        attributes = _leading(code[following : following + _MOST_ATTRIBUTES], "unary_operator")
        is_of_function = data.startswith(b"@doc", node.start_byte) and not any(
            _CALLBACK.match(data[one.start_byte : one.end_byte]) for one in attributes
        )
        clauses = _clauses(code, following + len(attributes), data) if is_of_function else []
        body = data[clauses[0].start_byte : clauses[-1].end_byte] if clauses else b""
        text = "".join(data[start:end].decode("utf-8", "replace") for start, end in strings)
        yield Definition(
            name=_name(clauses[0], data) if clauses else "",
            is_function=bool(clauses),
            start_line=(code[following] if clauses else node).start_point.row + 1,
            end_line=(clauses[-1] if clauses else node).end_point.row + 1,
            doc=textwrap.dedent(text).strip(),
            doc_spans=strings,
            body_lines=max(0, count_lines(body) - 1),
            is_overload=not clauses or b"do" not in body,
            comment_spans=((node.start_byte, node.end_byte),),
        )


def _strings(node: Node, data: bytes) -> tuple[tuple[int, int], ...] | None:
    """Return the bytes of the text of a ``@doc``, or None if a node is not documentation in prose."""
    if node.type != "unary_operator" or not _DOC.match(data[node.start_byte : node.end_byte]):
        return None
    waiting, parts = [node], []
    while waiting:
        inner = waiting.pop()
        if inner.type == "quoted_content":
            parts.append((inner.start_byte, inner.end_byte))
        waiting += inner.named_children
    return tuple(sorted(parts)) or None


def _leading(nodes: list[Node], kind: str) -> list[Node]:
    taken: list[Node] = []
    for node in nodes:
        if node.type != kind:
            break
        taken.append(node)
    return taken


def _clauses(nodes: list[Node], begin: int, data: bytes) -> list[Node]:
    """Return the clauses of the function that comes first from a place on, if one does."""
    name = _name(nodes[begin], data) if begin < len(nodes) else ""
    following = itertools.islice(nodes, begin, None)
    return list(itertools.takewhile(lambda node: _name(node, data) == name, following)) if name else []


def _name(node: Node, data: bytes) -> str:
    if node.type != "call" or data[node.children[0].start_byte : node.children[0].end_byte] not in _DEFINES:
        return ""
    match = _NAME.match(data[node.start_byte : node.end_byte])
    return match[1].decode() if match else ""
