"""Doc comments of languages that write them above the definition: one table row per language."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.captures import captures
from chunkers.languages import grammar
from chunkers.syntax import last_tree
from ground_truth.miners.comment_blocks import last_code_row, last_row, own_line_comments
from ground_truth.miners.types import Definition

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_BLOCK_OPENS = re.compile(rb"/\*+!?|\(\*+|\{-+|--\[=*\[|##\[")
_BLOCK_ENDS = re.compile(rb"(?:(?<!\*)\*+/|\*\)|-\}|\]##|\]=*\])\Z")
_LINE = re.compile(rb"(//[/!]*|#'|#+(?!!)|--+)([^\r\n]*)")
_STAR = re.compile(r"^[ \t]*\*+(?:[ \t]|$)", re.MULTILINE)
_RULER = re.compile(r"\W*([#=*~/_+-])\1{3,}|.*\S\s+([#=*~/_+-])\2{3,}+\W*+\Z")
_HEADING_LINES = 3
"""A ruler this near to the top underlines a section heading; further down it belongs to the text."""
_BRACES = frozenset({b"", b"{", b"}", b"};", b"})", b"});", b"end", b"fi", b"done"})


@dataclass(frozen=True)
class Style:
    """How one language documents its definitions."""

    query: str
    """A tree-sitter query with @function and @class."""
    opens: tuple[bytes, ...]
    """What a documentation comment begins with."""
    marks: tuple[bytes, ...] = ()
    """Unambiguous beginnings of documentation; any of ``opens`` if there are none."""
    between: tuple[str, ...] = ()
    """Nodes allowed between the comment and the definition, which belong to the definition."""
    wrappers: tuple[str, ...] = ()
    """Nodes around the definition, with the comment above them."""
    beside: tuple[str, ...] = ()
    """Nodes that are the body of the definition right before them."""
    within: bool = False
    """Whether the comment stands between the definition's head and its body."""


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
_C = """
(function_definition) @function
(declaration declarator: [(function_declarator) (pointer_declarator (function_declarator))]) @function
[(struct_specifier body: (_)) (enum_specifier body: (_)) (union_specifier body: (_)) (type_definition)] @class
"""
_CPP = (
    _C
    + """
(field_declaration declarator: [(function_declarator) (pointer_declarator) (reference_declarator)]) @function
(class_specifier body: (_)) @class
"""
)
_BLOCKS = (b"/**",)
_DOXYGEN = (b"/**", b"///", b"/*!", b"//!")


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
    ),
    "go": Style("[(function_declaration) (method_declaration)] @function (type_declaration) @class", (b"//",)),
    "rust": Style(
        "[(function_item) (function_signature_item)] @function"
        " [(struct_item) (enum_item) (trait_item) (impl_item) (mod_item) (type_item)] @class",
        (b"///", b"/**"),
        between=("attribute_item",),
    ),
    "csharp": Style(
        "[(method_declaration) (constructor_declaration) (local_function_statement)] @function"
        " [(class_declaration) (interface_declaration) (struct_declaration) (enum_declaration) (record_declaration)"
        " (property_declaration)] @class",
        (b"///", b"/**"),
    ),
    # Ruby writes documentation and remarks alike: only RDoc's mark tells them apart.
    "ruby": Style("[(method) (singleton_method)] @function [(class) (module)] @class", (b"#",), marks=(b"##",)),
    "php": Style(
        "[(function_definition) (method_declaration)] @function"
        " [(class_declaration) (interface_declaration) (trait_declaration) (enum_declaration)] @class",
        _BLOCKS,
    ),
    # C and C++ have no single convention: Doxygen, kernel-doc and plain comments above a function all document it.
    "c": Style(_C, (b"/*", b"//"), marks=_DOXYGEN),
    "cpp": Style(_CPP, (b"/*", b"//"), marks=_DOXYGEN, wrappers=("template_declaration",)),
    "kotlin": Style(
        "(function_declaration) @function [(class_declaration) (object_declaration) (property_declaration)] @class",
        _BLOCKS,
    ),
    "swift": Style(
        "[(function_declaration) (init_declaration) (protocol_function_declaration) (subscript_declaration)] @function"
        " [(class_declaration) (protocol_declaration) (property_declaration)] @class",
        (b"///", b"/**"),
    ),
    "scala": Style(
        "[(function_definition) (function_declaration)] @function"
        " [(class_definition) (object_definition) (trait_definition) (val_definition)] @class",
        _BLOCKS,
    ),
    "lua": Style(
        "(function_declaration) @function"
        " (assignment_statement (expression_list . value: (function_definition) .)) @function"
        " (field value: (function_definition)) @function",
        (b"--",),
        marks=(b"---",),
        wrappers=("variable_declaration",),
    ),
    "bash": Style("(function_definition) @function", (b"#",), marks=(b"##",)),
    # Perl's documentation is POD, which is for users; what a sub does is said above it.
    "perl": Style(
        "[(subroutine_declaration_statement) (method_declaration_statement)] @function", (b"#",), marks=(b"##",)
    ),
    "zig": Style("(Decl (FnProto)) @function (Decl (VarDecl)) @class", (b"///",)),
    "dart": Style(
        "[(function_signature) (getter_signature) (setter_signature) (operator_signature) (constructor_signature)"
        " (factory_constructor_signature)] @function"
        " [(class_definition) (mixin_declaration) (extension_declaration) (enum_declaration)] @class",
        (b"///", b"/**"),
        between=("annotation",),
        wrappers=("method_signature", "declaration"),
        beside=("function_body",),
    ),
    "fsharp": Style(
        "(declaration_expression !in (function_or_value_defn (function_declaration_left)) @function)"
        " (method_or_prop_defn) @function (type_definition) @class",
        (b"///",),
        wrappers=("declaration_expression", "member_defn"),
    ),
    "ocaml": Style(
        "(let_binding . pattern: (value_name) . (parameter)) @function [(type_definition) (module_definition)] @class",
        (b"(**",),
        wrappers=("value_definition",),
    ),
    "r": Style("(binary_operator lhs: (_) rhs: (function_definition)) @function", (b"#'",)),
    "nim": Style(
        "[(proc_declaration) (func_declaration) (method_declaration) (iterator_declaration) (converter_declaration)"
        " (macro_declaration) (template_declaration)] @function",
        (b"##",),
        within=True,
    ),
}


def commented_definitions(data: bytes, language: str) -> list[Definition]:
    """Return the documented definitions of a file in document order; for broken code, the parts that parse."""
    tree = last_tree(language, data)
    if tree is None:
        return []
    root = tree.root_node
    nodes = captures(_query(language), root)
    by_last_row = {last_row(comment): comment for comment in own_line_comments(root, data, language)}
    found = [
        definition
        for kind in ("function", "class")
        for node in nodes.get(kind, [])
        if (definition := _definition(node, data, language, by_last_row, is_function=kind == "function"))
    ]
    return sorted(found, key=lambda definition: (definition.doc_spans, definition.start_line))


@functools.cache
def _query(language: str) -> Query:
    from tree_sitter import Query

    return Query(grammar(language), STYLES[language].query)


def _definition(
    node: Node, data: bytes, language: str, by_last_row: Mapping[int, Node], *, is_function: bool
) -> Definition | None:
    style = STYLES[language]
    outer = node
    while outer.parent is not None and outer.parent.type in style.wrappers:
        outer = outer.parent
    first = _with_attributes(outer, style)
    if style.within:
        comments = _below_head(node, data, style)
    else:
        comments = comments_above(first.start_point.row, data, by_last_row, opens=style.opens)
    if not comments:
        return None
    beside = outer.next_sibling
    beside = beside if beside is not None and beside.type in style.beside else None
    body = beside or _body(node)
    last = last_code_row(beside or outer, data, language)
    return Definition(
        name=_name(node),
        is_function=is_function,
        start_line=first.start_point.row + 1,
        end_line=last + 1,
        doc=comment_text(comments, data),
        doc_spans=tuple(span for comment in comments for span in _inside(comment, data)),
        body_lines=_body_lines(body, data, last) if body is not None else 0,
        is_overload=body is None,
        is_marked=data.startswith(style.marks or style.opens, comments[0].start_byte),
        comment_spans=(whole_span(comments, data),),
    )


def _below_head(node: Node, data: bytes, style: Style) -> list[Node]:
    """Return the doc comments between a definition's head and its body, in order."""
    return [child for child in node.named_children if data.startswith(style.opens, child.start_byte)]


def _body_lines(body: Node, data: bytes, last: int) -> int:
    """Return the number of meaningful lines of a body, up to the last row of its definition."""
    lines = data[body.start_byte : body.end_byte].split(b"\n")[: last - body.start_point.row + 1]
    return count_lines(b"\n".join(lines))


def _with_attributes(node: Node, style: Style) -> Node:
    """Return the start of the definition including the attributes right above it."""
    first = node
    above = node.prev_sibling
    while above is not None and above.type in style.between and first.start_point.row - last_row(above) <= 1:
        first, above = above, above.prev_sibling
    return first


def comments_above(row: int, data: bytes, by_last_row: Mapping[int, Node], *, opens: tuple[bytes, ...]) -> list[Node]:
    """Return the doc comments that end right above a row, in order."""
    comments: list[Node] = []
    while True:
        above = by_last_row.get(row - 1)
        if above is None and not comments:
            # A block comment may be followed by one blank line, as in older styles of JavaScript and C.
            above = by_last_row.get(row - 2)
            if above is None or not _is_block(above, data) or _line_below(above, data).strip():
                return []
        if above is None or not data.startswith(opens, above.start_byte) or data.startswith(b"#!", above.start_byte):
            return comments[::-1]
        comments.append(above)
        row = above.start_point.row


def _line_below(comment: Node, data: bytes) -> bytes:
    begin = data.find(b"\n", whole_span([comment], data)[1]) + 1
    end = data.find(b"\n", begin)
    return data[begin : end if end >= 0 else None]


def _is_block(comment: Node, data: bytes) -> bool:
    """Return whether a comment is a block of documentation, or one of several lines."""
    several = last_row(comment) > comment.start_point.row
    return data.startswith(b"/**" if not several else b"/*", comment.start_byte)


def whole_span(comments: list[Node], data: bytes) -> tuple[int, int]:
    """Return the bytes from the first to the last of some comments, without the line feed after them."""
    last = data[comments[-1].start_byte : comments[-1].end_byte].rstrip(b"\r\n")
    return comments[0].start_byte, comments[-1].start_byte + len(last)


def comment_text(comments: list[Node], data: bytes) -> str:
    """Return the text of comments, without their marks."""
    parts = [
        _STAR.sub("", text) if _inside_block(data[comment.start_byte : comment.end_byte]) else text
        for comment in comments
        for start, end in _inside(comment, data, empty=True)
        for text in [data[start:end].decode("utf-8", "replace").replace("\r\n", "\n")]
    ]
    return _below_heading("\n".join(part.removeprefix(" ") for part in parts).strip())


def _below_heading(text: str) -> str:
    """Return a text without the rulers around it and without a heading underlined by a ruler."""
    lines = text.split("\n")
    while lines and (not lines[-1].strip() or _RULER.match(lines[-1])):
        lines.pop()
    ruled = [number for number, line in enumerate(lines[:_HEADING_LINES]) if _RULER.match(line)]
    return "\n".join(lines[ruled[-1] + 1 :] if ruled else lines).strip()


def count_lines(body: bytes) -> int:
    """Return the number of meaningful lines of a body."""
    return sum(line.strip() not in _BRACES for line in body.split(b"\n"))


def _carrier(node: Node) -> Node:
    """Return the node that has the name: the definition itself, or the declarator or assignment inside it."""
    if node.type in ("lexical_declaration", "expression_statement"):
        return node.named_children[0]
    return (
        next((child for child in node.named_children if child.type == "FnProto"), node) if node.type == "Decl" else node
    )


def _body(node: Node) -> Node | None:
    carrier = _carrier(node)
    fields = (carrier.child_by_field_name(field) for field in ("value", "right", "rhs"))
    value = next((field for field in fields if field is not None), carrier)
    body = value.child_by_field_name("body")
    if node.type == "method_or_prop_defn":
        return next((child for child in reversed(node.named_children) if not child.type.endswith("comment")), None)
    if body is not None or node.type not in ("function_declaration", "Decl"):
        return body
    return next((child for child in node.named_children if child.type in ("function_body", "Block")), None)


def _name(node: Node) -> str:
    carrier = _carrier(node)
    if (declarator := carrier.child_by_field_name("declarator")) is not None:
        while (inner := declarator.child_by_field_name("declarator")) is not None:
            declarator = inner
        # A reference's declarator has no field for its content.
        found: Node | None = declarator
        if declarator.type == "reference_declarator" and declarator.named_children:
            found = declarator.named_children[0].child_by_field_name("declarator") or declarator.named_children[0]
    else:
        fields = (carrier.child_by_field_name(field) for field in ("name", "left", "key", "lhs", "pattern"))
        found = next((field for field in fields if field is not None), None) or next(
            (child for child in carrier.named_children if child.type in _NAMES), None
        )
    if found is not None and found.type in _NAME_HOLDERS and found.named_children:
        found = found.named_children[0]
    text = (found.text or b"").decode("utf-8", "replace") if found is not None else ""
    return re.split(r"[.:]+", text.split("(")[0].strip())[-1]


_NAMES = ("simple_identifier", "IDENTIFIER", "variable_list", "identifier", "function_declaration_left")
_NAME_HOLDERS = ("exported_symbol", "function_declaration_left")
"""Nodes whose first child is the name."""


def _inside(comment: Node, data: bytes, *, empty: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the bytes of a comment without its marks."""
    text = data[comment.start_byte : comment.end_byte]
    block = _inside_block(text)
    if block:
        begin, end = block
        if empty or end > begin:
            yield comment.start_byte + begin, comment.start_byte + end
        return
    # A grammar may parse several line comments as one node.
    for line in re.finditer(rb"[^\n]+", text):
        indent = len(line[0]) - len(line[0].lstrip())
        match = _LINE.match(line[0][indent:])
        start = comment.start_byte + line.start() + indent
        if match and (empty or match.end(2) > match.start(2)):
            yield start + match.start(2), start + match.end(2)


def _inside_block(text: bytes) -> tuple[int, int] | None:
    """Return where the text of a block comment begins and ends between its marks; None for other comments."""
    opens = _BLOCK_OPENS.match(text)
    ends = _BLOCK_ENDS.search(text.rstrip()) if opens else None
    # The marks of an empty comment share their stars.
    return (min(opens.end(), ends.start()), ends.start()) if opens and ends else None
