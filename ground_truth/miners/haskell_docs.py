"""Documentation of Haskell: a Haddock comment above a signature, which forms one definition with its equations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkers.syntax import last_tree
from ground_truth.miners.comment_blocks import last_row, own_line_comments
from ground_truth.miners.doc_comments import comment_text, comments_above, count_lines, whole_span
from ground_truth.miners.query_text import LONGEST_TEXT
from ground_truth.miners.types import Definition

if TYPE_CHECKING:
    from tree_sitter import Node

_EQUATIONS = ("function", "bind")
_TYPES = ("data_type", "newtype", "class", "type_synomym", "instance", "type_family")
_HADDOCK = re.compile(r"\A(?:[|^*]+ ?|\$\w+\s*)")
_OPENS = (b"--", b"{-")
_CODE = re.compile(r"@([^@]+)@")
_QUOTED = re.compile(r"(?<![\w'])'([^\W\d][\w.']*|[^\w\s']+)'(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w/<])/([^/\n]+)/(?![\w/>])|__([^_\n]+)__")
_NAMED_LINK = re.compile(r"<https?://\S+\s+([^>]+)>")
_ESCAPED = re.compile(r"\\([<>@'\"/`])")
_COST = re.compile(r"\A(?:\w+ )?(?:\\\(.*?\\\)|/O\(.*?\)/)(?:[.,:;]|\s+time\.)\s+", re.DOTALL)
_MATHS = re.compile(r"\\\((.*?)\\\)")


def haskell_definitions(data: bytes) -> list[Definition]:
    """Return the documented definitions of a file in document order; for broken code, the parts that parse."""
    tree = last_tree("haskell", data)
    if tree is None:
        return []
    root = tree.root_node
    by_last_row = {last_row(comment): comment for comment in own_line_comments(root, data, "haskell")}
    found: list[Definition] = []
    for nodes in _declarations(root):
        comments = comments_above(nodes[0].start_point.row, data, by_last_row, opens=_OPENS)
        if not comments:
            continue
        equations = [node for node in nodes if node.type in _EQUATIONS]
        span = whole_span(comments, data)
        text = comment_text(comments, data)[:LONGEST_TEXT]
        found.append(
            Definition(
                name=_name(nodes[0]),
                is_function=nodes[0].type not in _TYPES,
                start_line=nodes[0].start_point.row + 1,
                end_line=last_row(nodes[-1]) + 1,
                doc=_plain(_HADDOCK.sub("", text).strip(), _name(nodes[0])),
                doc_spans=(span,),
                body_lines=sum(count_lines(data[node.start_byte : node.end_byte]) for node in equations),
                is_overload=not equations,
                is_marked=bool(_HADDOCK.match(text)),
                comment_spans=(span,),
            )
        )
    return sorted(found, key=lambda definition: (definition.doc_spans, definition.start_line))


def _plain(doc: str, name: str) -> str:
    """Return documentation without Haddock markup, and without the complexity or the call that it may begin with.

    "@'take' n xs@ returns …" becomes "returns …": the called name is in the code.
    """
    doc = re.sub(rf"\A@\(?'?{re.escape(name)}'?[^@]*@\s+(?=[a-z]+s\b)", "", _COST.sub("", doc))
    doc = _MATHS.sub(lambda match: match[1].replace("\\", "").strip(), doc)
    doc = _EMPHASIS.sub(lambda match: match[1] or match[2], _CODE.sub(r"\1", doc))
    return _ESCAPED.sub(r"\1", _QUOTED.sub(r"\1", _NAMED_LINK.sub(r"\1", doc)))


def _declarations(root: Node) -> Iterator[list[Node]]:
    """Yield each top-level declaration: a signature with its equations, equations alone, or a type."""
    nodes = [node for part in root.named_children if part.type == "declarations" for node in part.named_children]
    group: list[Node] = []
    for node in nodes:
        if node.type not in ("signature", *_EQUATIONS, *_TYPES):
            continue
        if group and not (node.type in _EQUATIONS and group[0].type not in _TYPES and _name(node) == _name(group[0])):
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _name(node: Node) -> str:
    name = node.child_by_field_name("name") or next(iter(node.named_children), None)
    return (name.text or b"").decode("utf-8", "replace") if name is not None else ""
