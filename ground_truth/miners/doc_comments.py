"""Doc comments of languages that write them above the definition: one row of a table per language."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.languages import grammar, parser
from ground_truth.miners.types import Definition

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_BLOCK = re.compile(rb"(/\*\*)(.*?)(\*/)\Z", re.DOTALL)
_LINE = re.compile(rb"(///?/?!?|#+)([^\r\n]*)")
_STAR = re.compile(r"^[ \t]*\*+[ \t]?", re.MULTILINE)
_BRACES = frozenset({b"", b"{", b"}", b"};", b"})", b"});"})


@dataclass(frozen=True)
class Style:
    """How one language documents its definitions."""

    query: str
    """A tree-sitter query with @function and @class."""
    opens: tuple[bytes, ...]
    """What a comment begins with that is documentation."""
    comments: tuple[str, ...] = ("comment",)
    between: tuple[str, ...] = ()
    """Nodes that may stand between the comment and the definition, and belong to the definition."""
    wrappers: tuple[str, ...] = ()
    """Nodes around the definition, above which the comment stands."""


_JAVASCRIPT = """
[(function_declaration) (generator_function_declaration) (method_definition)] @function
(class_declaration) @class
(lexical_declaration . (variable_declarator value: [(arrow_function) (function_expression)]) .) @function
(expression_statement (assignment_expression right: [(arrow_function) (function_expression)])) @function
(pair value: [(arrow_function) (function_expression)]) @function
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
[(interface_declaration) (type_alias_declaration) (enum_declaration) (abstract_class_declaration)] @class
[(function_signature) (method_signature) (abstract_method_signature)] @function
"""
)
_BLOCKS = (b"/**",)


def _script(query: str) -> Style:
    return Style(query, _BLOCKS, between=("decorator",), wrappers=("export_statement", "ambient_declaration"))


STYLES: dict[str, Style] = {
    "javascript": _script(_JAVASCRIPT),
    "typescript": _script(_TYPESCRIPT),
    "tsx": _script(_TYPESCRIPT),
    "java": Style(
        "[(method_declaration) (constructor_declaration)] @function"
        " [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)] @class",
        _BLOCKS,
        comments=("block_comment", "line_comment"),
    ),
    "go": Style("[(function_declaration) (method_declaration)] @function (type_declaration) @class", (b"//",)),
    "rust": Style(
        "[(function_item) (function_signature_item)] @function"
        " [(struct_item) (enum_item) (trait_item) (impl_item) (mod_item) (type_item)] @class",
        (b"///", b"/**"),
        comments=("line_comment", "block_comment"),
        between=("attribute_item",),
    ),
    "csharp": Style(
        "[(method_declaration) (constructor_declaration) (local_function_statement)] @function"
        " [(class_declaration) (interface_declaration) (struct_declaration) (enum_declaration) (record_declaration)"
        " (property_declaration)] @class",
        (b"///", b"/**"),
    ),
    "ruby": Style("[(method) (singleton_method)] @function [(class) (module)] @class", (b"#",)),
    "php": Style(
        "[(function_definition) (method_declaration)] @function"
        " [(class_declaration) (interface_declaration) (trait_declaration) (enum_declaration)] @class",
        _BLOCKS,
    ),
}


def commented_definitions(data: bytes, language: str) -> list[Definition]:
    """Return the documented definitions of a file in document order; broken code gives what parses."""
    from tree_sitter import QueryCursor

    tree = parser(language).parse(data)
    captures = QueryCursor(_query(language)).captures(tree.root_node)
    found = [
        definition
        for kind in ("function", "class")
        for node in captures.get(kind, [])
        if (definition := _definition(node, data, STYLES[language], is_function=kind == "function"))
    ]
    return sorted(found, key=lambda definition: (definition.doc_spans, definition.start_line))


@functools.cache
def _query(language: str) -> Query:
    from tree_sitter import Query

    return Query(grammar(language), STYLES[language].query)


def _definition(node: Node, data: bytes, style: Style, *, is_function: bool) -> Definition | None:
    outer = node
    while outer.parent is not None and outer.parent.type in style.wrappers:
        outer = outer.parent
    first, comments = _above(outer, data, style)
    if not comments:
        return None
    spans = tuple(span for comment in comments for span in _inside(comment, data))
    body = _body(node)
    return Definition(
        name=_name(node),
        is_function=is_function,
        start_line=first.start_point.row + 1,
        end_line=_last_row(outer) + 1,
        doc=_text(comments, data),
        doc_spans=spans,
        body_lines=_count_lines(body, data) if body is not None else 0,
        is_overload=body is None,
        comment_spans=((comments[0].start_byte, comments[-1].start_byte + len(_stripped(comments[-1], data))),),
    )


def _stripped(comment: Node, data: bytes) -> bytes:
    return data[comment.start_byte : comment.end_byte].rstrip(b"\r\n")


def _above(node: Node, data: bytes, style: Style) -> tuple[Node, list[Node]]:
    """Return where the definition begins with its attributes, and the doc comments right above, in order."""
    first = node
    comments: list[Node] = []
    row = node.start_point.row
    above = _previous(node)
    # One blank line may stand below a block comment, as in the older style of JavaScript.
    while above is not None and row - _last_row(above) <= (2 if data.startswith(b"/**", above.start_byte) else 1):
        if above.type in style.between and not comments:
            first = above
        elif above.type in style.comments and data.startswith(style.opens, above.start_byte):
            # A comment at the end of a line of code belongs to that code.
            if data[data.rfind(b"\n", 0, above.start_byte) + 1 : above.start_byte].strip():
                break
            comments.append(above)
        else:
            break
        row = above.start_point.row
        above = above.prev_sibling
    return first, comments[::-1]


def _previous(node: Node) -> Node | None:
    """Return what stands before a node; of the first in a body, what stands before the body."""
    if node.prev_sibling is None and node.parent is not None and node.parent.type == "body_statement":
        return node.parent.prev_sibling
    return node.prev_sibling


def _last_row(node: Node) -> int:
    """Return the last row with text; some grammars end a line comment after its line feed."""
    at_line_start = node.end_point.column == 0 and node.end_point.row > node.start_point.row
    return node.end_point.row - at_line_start


def _carrier(node: Node) -> Node:
    """Return the node that has the name: the definition itself, or the declarator or assignment inside it."""
    return node.named_children[0] if node.type in ("lexical_declaration", "expression_statement") else node


def _body(node: Node) -> Node | None:
    carrier = _carrier(node)
    value = carrier.child_by_field_name("value") or carrier.child_by_field_name("right") or carrier
    return value.child_by_field_name("body")


def _name(node: Node) -> str:
    carrier = _carrier(node)
    fields = (carrier.child_by_field_name(field) for field in ("name", "left", "key"))
    found = next((field for field in fields if field is not None), None)
    return (found.text or b"").decode("utf-8", "replace").rpartition(".")[2] if found is not None else ""


def _count_lines(body: Node, data: bytes) -> int:
    return sum(line.strip() not in _BRACES for line in data[body.start_byte : body.end_byte].split(b"\n"))


def _inside(comment: Node, data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the bytes of a comment without its marks."""
    text = data[comment.start_byte : comment.end_byte]
    match = _BLOCK.match(text) or _LINE.match(text)
    if match and match.end(2) > match.start(2):
        yield comment.start_byte + match.start(2), comment.start_byte + match.end(2)


def _text(comments: list[Node], data: bytes) -> str:
    parts = [
        _STAR.sub("", data[start:end].decode("utf-8", "replace").replace("\r\n", "\n"))
        for comment in comments
        for start, end in _inside(comment, data)
    ]
    return "\n".join(part.removeprefix(" ") for part in parts).strip()
