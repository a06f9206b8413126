"""Comments inside bodies, and the statements that each introduces, in every language with comments."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from chunkers.captures import captures
from chunkers.languages import grammar, known_languages
from chunkers.outline import code_end
from chunkers.syntax import last_tree
from ground_truth.miners.around import Around, Child

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_COMMENT = re.compile(
    r"(?:(?:line|block|multiline|multi_line|single_line|doc|document|documentation|statement|html|js|bracket)_)?comment"
    r"|comment_(?:line|block)|Comment|haddock"
)
_FUNCTION = re.compile(
    r"(?:.*_)?(?:function|func|fn|method|lambda|closure|constructor|destructor|initializer|procedure|proc|subroutine"
    r"|subprogram|accessor|getter|setter|defun|init|deinit)"
    r"(?:_(?:definition|declaration|item|expression|expr|statement|literal|body|block|def|define|clause|decl|left|defn"
    r"|declaration_statement))?"
    r"|decorated_definition|macro_definition|defProc|create_function|function_or_value_defn|method_or_prop_defn|recipe"
    r"|task_(?:declaration|definition|body)|(?:iterator|converter|macro)_declaration"
)
_TYPE = re.compile(
    r"(?:.*_)?(?:class|struct|interface|enum|module|namespace|trait|impl|object|protocol|record|union|type)"
    r"(?:_(?:definition|declaration|item|specifier|def|decl|statement|alias))"
    r"|class|module|template_declaration|.*(?:import|include|using|require|package)(?:_.*)?"
)
_CONTAINER = re.compile(
    r"(?:.*_)?(?:block|body|statements|suite|stmts|exps|declarations|binds)|statement_list|body_statement|then|else|do"
    r"|chunk|source|source_file|program|Block"
)
_DECLARATION = re.compile(r"(?:.*_)?(?:declaration|definition)(?:_statement|_command)?")
_BODIES = {
    "zig": re.compile("Block"),
    "haskell": re.compile("function|bind|do|local_binds"),
    "ruby": re.compile("method|singleton_method|block|do_block|lambda"),
    "bash": re.compile("function_definition|compound_statement|do_group|if_statement|case_item|subshell"),
    "swift": re.compile("function_body|lambda_literal|computed_\\w+|willset_didset_block"),
    "scala": re.compile("function_definition|lambda_expression|block|indented_block|case_block|case_clause"),
}
"""Languages whose bodies the usual names of function nodes do not match."""
_TYPE_BODY = re.compile(
    "class_body|template_body|field_declaration_list|declaration_list|enum_(?:class_)?body|interface_body|object_body"
    "|protocol_body|class_parameters|primary_constructor|companion_object|namespace_definition|class|module|class_specifier"
    "|struct_specifier|ContainerDecl"
)
"""Nodes around a member of a type: if one is nearer to a comment than a function, the comment is outside of one."""
_EXPRESSIONS = frozenset(
    "argument_list arguments list array dictionary tuple set object parameters formal_parameters value_arguments"
    " table_constructor array_literal dictionary_literal initializer_list array_expression array_creation_expression"
    " array_initializer map collection_literal field_initializer_list enum_body keywords hash literal_value"
    " initializer_expression record_fields map_content token_tree InitList FnCallArguments".split()
)
_LISPS = frozenset("clojure commonlisp elisp fennel janet racket scheme".split())
_BLOCK_MARKS = (b"/*", b"(*", b"{-", b"--[", b"<!--")
_DOC_MARKS = (b"/**", b"///", b"//!", b"/*!", b"-- |", b"{-|")
_NIM_DOC_MARK = b"##"
"""In Nim, documentation is the first thing in a body; in other languages with ``#`` this is an ordinary comment."""
_ELIXIR_DEFINITIONS = frozenset(
    (b"def", b"defp", b"defmacro", b"defmacrop", b"defn", b"defimpl", b"defmodule", b"test")
)
_ELIXIR_BODIES = frozenset((b"def", b"defp", b"defmacro", b"defmacrop", b"defn"))
_MARK = re.compile(
    r"^[ \t]*(?:/\*+!?|//[/!]*|\(\*+|\{-+[|^]?|<!--+|--\[=*\[|--+(?: ?[|^])?|\*+(?!/)|#+\|?|;+|%+|\"|'|!+|REM\b)[ \t]?",
    re.IGNORECASE,
)
_END = re.compile(r"(?:(?<!\*)\*+[/)]|(?<!-)(?:-+\}|--+>)|\]=*\]|\|#)\Z")


class Comment(NamedTuple):
    """A comment with its lines to itself; consecutive line comments at one depth are one."""

    start_byte: int
    end_byte: int
    text: str
    """Without marks and indentation, with a line feed between its lines."""


class Lines(NamedTuple):
    """1-based inclusive lines."""

    first: int
    last: int


class Commented(NamedTuple):
    """A comment and the statements below it, or why it introduces none."""

    comment: Comment
    lines: Lines | None
    problem: str = ""


def commented_blocks(data: bytes, language: str) -> Iterator[Commented]:
    """Yield each comment that has its lines to itself, in document order; for broken code, the parts that parse."""
    tree = last_tree(language, data) if has_comments(language) else None
    if tree is None:
        return
    root = tree.root_node
    around = Around(root, functools.partial(_inside, data=data, language=language))
    for group in _groups(own_line_comments(root, data, language), data):
        comment = Comment(group[0].start_byte, _end_byte(group[-1], data), _text(group, data))
        lines, problem = _introduced(group, around, data, language)
        yield Commented(comment, lines, problem)


def own_line_comments(root: Node, data: bytes, language: str) -> Iterator[Node]:
    """Yield the comments that have their lines to themselves, in document order, none inside another."""
    query = _query(language)
    if query is None:
        return
    end = -1
    for node in sorted(captures(query, root).get("comment", []), key=lambda node: node.start_byte):
        if node.start_byte >= end:
            line = node.start_byte - node.start_point.column
            if line >= end and not data[line : node.start_byte].strip():
                yield node
            end = node.end_byte


def has_comments(language: str | None) -> bool:
    """Return whether the language's grammar has comments."""
    return language in known_languages() and _query(language or "") is not None


@functools.cache
def _query(language: str) -> Query | None:
    from tree_sitter import Query

    kinds = sorted(_comment_kinds(language))
    return Query(grammar(language), f"[{' '.join(f'({kind})' for kind in kinds)}] @comment") if kinds else None


@functools.cache
def _comment_kinds(language: str) -> frozenset[str]:
    return frozenset(kind for kind in _named_kinds(grammar(language)) if _COMMENT.fullmatch(kind))


def _named_kinds(language: Language) -> Iterator[str]:
    for number in range(language.node_kind_count):
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number):
            yield language.node_kind_for_id(number) or ""


@functools.cache
def _body_kinds(language: str) -> re.Pattern[str] | None:
    """Return the node types around a body, or None if the grammar has nothing like a function."""
    if language in _BODIES:
        return _BODIES[language]
    return _FUNCTION if any(map(_FUNCTION.fullmatch, _named_kinds(grammar(language)))) else None


def _groups(nodes: Iterable[Node], data: bytes) -> Iterator[list[Node]]:
    """Yield the comments, with consecutive line comments joined."""
    group: list[Node] = []
    for node in nodes:
        is_block = data.startswith(_BLOCK_MARKS, node.start_byte)
        if group and (is_block or not _follows(group[-1], node)):
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _follows(above: Node, node: Node) -> bool:
    rows = (above.start_point.row, last_row(above), node.start_point.row, last_row(node))
    return rows[0] == rows[1] == rows[2] - 1 == rows[3] - 1 and above.start_point.column == node.start_point.column


def last_row(node: Node) -> int:
    """Return the last row with text; some grammars end a line comment after its line feed."""
    at_line_start = node.end_point.column == 0 and node.end_point.row > node.start_point.row
    return node.end_point.row - at_line_start


def last_code_row(node: Node, data: bytes, language: str) -> int:
    """Return the last row of a node's code, without trailing comments that its grammar includes."""
    end = code_end(node, _comment_kinds(language))
    return node.start_point.row + data.count(b"\n", node.start_byte, end)


def _end_byte(node: Node, data: bytes) -> int:
    return node.start_byte + len(data[node.start_byte : node.end_byte].rstrip(b"\r\n"))


def _text(group: list[Node], data: bytes) -> str:
    raw = data[group[0].start_byte : group[-1].end_byte].decode("utf-8", "replace")
    return "\n".join(_END.sub("", _MARK.sub("", line).rstrip(" \t")).rstrip() for line in raw.splitlines()).strip()


def _introduced(group: list[Node], around: Around[_Inside], data: bytes, language: str) -> tuple[Lines | None, str]:
    if reason := around.move_to(group[-1]).problem:
        return None, reason
    marks = (*_DOC_MARKS, _NIM_DOC_MARK) if language == "nim" else _DOC_MARKS
    if data.startswith(marks, group[0].start_byte):
        return None, "documents a definition"
    below = _statement_below(group[-1], around, data)
    if below is None:
        return None, "introduces no statement"
    first = below.node
    if _is_definition(first, data, language):
        return None, "documents a definition"
    if below.parent.type in _EXPRESSIONS and language not in _LISPS:
        return None, "inside an expression"
    end = last_code_row(first, data, language)
    only_declares = _declares(first, data)
    for node in itertools.islice(below.siblings, below.place + 1, None):
        # A block that has only declared its variables continues after the empty line.
        if node.start_point.row > end + 1 + only_declares:
            break
        if node.start_point.row > end and (not node.is_named or _COMMENT.fullmatch(node.type)):
            break
        end = max(end, last_code_row(node, data, language))
        only_declares = only_declares and (not node.is_named or _declares(node, data))
    return Lines(first.start_point.row + 1, end + 1), ""


def _declares(node: Node, data: bytes) -> bool:
    """Return whether a statement declares variables and calls nothing."""
    return bool(_DECLARATION.fullmatch(node.type)) and b"(" not in data[node.start_byte : node.end_byte]


class _Inside(NamedTuple):
    """What is known of a comment whose parent a node is."""

    problem: str
    """Why it is not in the body of a function, or nothing."""
    is_tested: bool
    """Whether a test is around it."""


def _inside(node: Node, outer: _Inside | None, *, data: bytes, language: str) -> _Inside:
    kinds = _body_kinds(language)
    is_tested = _is_test(node, data) or (outer is not None and outer.is_tested)
    in_body = _Inside("inside a test" if is_tested else "", is_tested)
    outside = outer or _Inside("outside a body", is_tested=False)
    if kinds is None:
        return in_body if outer else outside
    if is_tested and not outside.is_tested:
        return in_body
    if _TYPE_BODY.fullmatch(node.type):
        return _Inside("outside a body", is_tested)
    is_body = kinds.fullmatch(node.type) or (language == "elixir" and _called(node, data) in _ELIXIR_BODIES)
    return in_body if is_body else outside


def _is_test(node: Node, data: bytes) -> bool:
    """Return whether a node is a test inside the code that it tests, as in Zig and Rust."""
    if node.type == "mod_item":
        name = node.child_by_field_name("name")
        return name is not None and data[name.start_byte : name.end_byte] in (b"test", b"tests")
    return node.type == "TestDecl"


def _statement_below(comment: Node, around: Around[_Inside], data: bytes) -> Child | None:
    """Return the statement that begins on the next line at the comment's depth."""
    row = last_row(comment) + 1
    start = data.find(b"\n", _end_byte(comment, data)) + 1
    if not start:
        return None
    while start < len(data) and data[start : start + 1] in (b" ", b"\t"):
        start += 1
    outer = around.beginning_at(start)
    inner = outer.pop() if outer else None
    if inner is None or inner.node.start_point.column != comment.start_point.column:
        return None
    if inner.node.start_point.row != row or _COMMENT.fullmatch(inner.node.type):
        return None
    while outer and not _CONTAINER.fullmatch(outer[-1].node.type):
        inner = outer.pop()
    return inner if inner.node.is_named else None


def _is_definition(node: Node, data: bytes, language: str) -> bool:
    if language == "elixir":
        return _called(node, data) in _ELIXIR_DEFINITIONS or node.type == "unary_operator"
    declarator = node.child_by_field_name("declarator") if node.type == "declaration" else None
    if declarator is not None and declarator.type == "function_declarator":
        return True
    return bool(_FUNCTION.fullmatch(node.type) or _TYPE.fullmatch(node.type))


def _called(node: Node, data: bytes) -> bytes:
    """Return the name at the start of an Elixir call."""
    if node.type != "call" or not node.children:
        return b""
    return data[node.children[0].start_byte : node.children[0].end_byte]
