"""Chunkers that cut by syntax tree."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tree_sitter import Node

from chunkers.cast import Cast
from chunkers.code_chunk import CodeChunk
from chunkers.definition_nodes import CUT_NODES, DEFINITION_NODES
from chunkers.definitions import Definitions
from chunkers.functions import Functions
from chunkers.languages import known_languages, language_of, parser
from chunkers.outline import name_of, outline
from chunkers.registry import CHUNKERS
from chunkers.syntax import parse
from chunkers.types import Chunker, SourceFile
from chunkers.windows import Level

CODE = Path(__file__).parent / "fixtures" / "code"
NAMES = {
    "Account.java": "Account Account add balance State Auditor approves",
    "Cache.kt": "Cache get put companion|object forever Clock now main",
    "Clock.cs": "Clock Clock Now Tick IAlarm Ring Zone",
    "Ledger.scala": "Ledger add total Ledger empty Named",
    "Route.swift": "Route legs init Planner describe",
    "Router.php": "Router __construct add match dispatch",
    "backup.sh": "say copy_all",
    "counter.rs": "Counter Counter new add Counter fmt Reset reset twice",
    "garden.rb": "Garden Plant initialize water! rose report",
    "greeting.tsx": "Props Greeting Page",
    "inventory.py": "price Shelf __init__ put worth main",
    "list.c": "node list_t push sum",
    "matrix.cpp": "Matrix Matrix at trace main",
    "queue.js": "later Queue constructor push size drain main",
    "shapes.ts": "Shape Point Kind Base constructor area equals Shapes unit",
    "stack.go": "Stack Push Pop main",
    "vector.lua": "Vector.new Vector:length scale",
}
# A comment, decorator or attribute in each file, and a word of the definition that it must stay with.
LEADING = {
    "Account.java": ("// Negative amounts", "void add"),
    "Cache.kt": ("// A value that is too old", "fun get"),
    "Clock.cs": ("// Listeners hear", "void Tick"),
    "Ledger.scala": ("// Adding zero", "def add"),
    "Route.swift": ("// Two stops", "func legs"),
    "Router.php": ("// The first handler", "function add"),
    "backup.sh": ("# Says what", "say()"),
    "counter.rs": ("#[inline]", "pub fn add"),
    "garden.rb": ("# Too much water", "def water!"),
    "greeting.tsx": ("// Says hello", "function Greeting"),
    "inventory.py": ("# Prices are in cents", "def price"),
    "list.c": ("// The new node", "static void push"),
    "matrix.cpp": ("/// A dense matrix", "class Matrix"),
    "queue.js": ("// Returns the queue", "push(item)"),
    "shapes.ts": ("// Two shapes are equal", "equals(other"),
    "stack.go": ("// Push puts", "Push(item T)"),
    "vector.lua": ("-- A vector", "function Vector.new"),
}


def fixture(name: str) -> SourceFile:
    """Return one of the code fixtures."""
    return SourceFile(name, (CODE / name).read_bytes(), language_of(name))


def texts(chunker: Chunker, source: SourceFile) -> list[str]:
    """Return the text of each piece."""
    return [source.data[piece.start : piece.end].decode() for piece in chunker.split(source)]


def root_of(source: SourceFile) -> Node:
    """Return the tree of a file that has one."""
    root = parse(source)
    assert root is not None
    return root


@pytest.mark.parametrize("name", NAMES)
def test_definitions_of_each_language_are_found(name: str) -> None:
    """Functions, classes and methods are found in order, by the names they have."""
    source = fixture(name)
    found = outline(root_of(source), DEFINITION_NODES[source.language or ""])
    assert [name_of(one.node).replace(" ", "|") for one in found] == NAMES[name].split()


@pytest.mark.parametrize("name", LEADING)
def test_what_leads_a_definition_stays_with_it(name: str) -> None:
    """The comment or decorator before a definition is at the head of its chunk."""
    lead, definition = LEADING[name]
    (chunk,) = [text for text in texts(Definitions(), fixture(name)) if lead in text]
    assert definition in chunk
    assert chunk.lstrip().startswith(lead) or chunk.lstrip()[:3] in {"//!", "///", "/**", "#[d", "// "}


# Where a grammar puts the comment outside the body that it begins, or into the import before it.
FIRST_COMMENTS = {
    "class": ("python", "class A:\n|    # c\n    def m(self): ...\n"),
    "class behind whose colon is a comment": ("python", "class A:  # a\n|    # c\n    def m(self): ...\n"),
    "condition": ("python", "if x:\n|    # c\n    # d\n    def f(): ...\n|else:\n|    # e\n    def g(): ...\n"),
    "comment apart": ("python", "class A:\n    # c\n\n|    def m(self): ...\n"),
    "module": ("ruby", "module M\n|  # c\n  class A < B\n|    # d\n    def m\n    end\n  end\nend\n"),
    "import": ("kotlin", "package a\n\nimport b.c\n\n|/**\n * D.\n */\nclass A {\n|    // c\n    fun m() {}\n}\n"),
    "package": ("kotlin", "package a\n\n|/** D. */\n// c\nfun f() {}\n"),
    "comment of an import": ("kotlin", "package a\nimport b.c // c\n|fun f() {}\n"),
    "comment between imports": ("kotlin", "import b.c\n// c\nimport d.e\n|fun f() {}\n"),
    "body without braces": (
        "scala",
        "class A {\n|  def f =\n    g(1)\n\n|  /** D. */\n  // c\n  def h =\n    2\n\n|  // d\n\n|  def i = 3\n}\n",
    ),
    "comment apart from imports": ("kotlin", "import b.c\n// c\n\n|// d\nfun f() {}\n"),
}


@pytest.mark.parametrize("case", FIRST_COMMENTS)
def test_a_comment_stays_with_the_first_definition(case: str) -> None:
    """A comment leads the first definition in a body, and the first of a file, like any other."""
    language, marked = FIRST_COMMENTS[case]
    source = SourceFile("a", marked.replace("|", "").encode(), language)
    assert texts(Definitions(), source) == marked.split("|")


# Definitions inside what is not a body of definitions only.
HIDDEN = {
    "types in a class": (
        "cpp",
        "class A {\n|  // c\n  class B {\n|    void f() {}\n  };\n|  enum E { X };\n|  struct Later;\n};\n",
    ),
    "members of a type without a name are data": ("cpp", "class A {\n  struct { int x; } a;\n  enum { X };\n};\n"),
    "functions in a condition": (
        "php",
        "<?php\nif (!function_exists('g')) {\n|    // c\n    function g() {}\n|} else {\n|    class Q {}\n}\n",
    ),
    "functions that are assigned": (
        "lua",
        (
            "local M = {}\n|-- c\nM.f = function(a)\n  return a\nend\n|local g = function() end\n|x = 1\nif a then\n"
            "|  -- d\n  local function h() end\n|else\n|  M.i = function() end\n|end\nreturn M\n"
        ),
    ),
    "function behind a colon": ("php", "<?php\nif (X):\n|  function h() {}\n|endif;\n"),
    "private methods": (
        "ruby",
        "class A\n|  def b; end\n|  # c\n  private def c\n    1\n  end\n|  attr_reader :d\nend\n",
    ),
    "types under a condition": (
        "csharp",
        "#if X\n|// c\nclass A {\n#if Y\n|    void f() {}\n|#endif\n}\n|#else\n|class B {}\n|#endif\n",
    ),
    "functions in fields": (
        "javascript",
        "class A {\n|  // c\n  h = () => { x; };\n|  y = 1;\n|  #p = async () => 1;\n}\n",
    ),
    "typed functions in fields": (
        "typescript",
        "class A {\n  y: () => void;\n|  @dec() private h = (a: number): void => { x; };\n}\n",
    ),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_definitions_are_found_where_they_are_allowed(case: str) -> None:
    """Conditions, fields and modifiers around a definition do not hide it."""
    language, marked = HIDDEN[case]
    source = SourceFile("a", marked.replace("|", "").encode(), language)
    assert texts(Definitions(), source) == marked.split("|")


def test_a_lone_end_is_no_chunk() -> None:
    """What closes a Ruby class or module is joined to what it closes; other words are not lost in it."""
    source = SourceFile("a.rb", b"module M\n  class A\n    def m\n    end\n  end\n\n  X = 1\nend\n", "ruby")
    assert texts(Definitions(), source) == [
        "module M\n",
        "  class A\n",
        "    def m\n    end\n  end\n\n",
        "  X = 1\nend\n",
    ]


def test_definitions_keep_gaps_and_join_lone_brackets() -> None:
    """What lies between definitions is a chunk; a closing bracket is not."""
    chunks = texts(Definitions(), fixture("Account.java"))
    assert chunks[0].startswith("package bank;")
    assert not any(chunk.strip() == "}" for chunk in chunks)


def test_a_comment_behind_code_belongs_to_that_code() -> None:
    """Only comments on lines of their own lead what follows."""
    source = SourceFile("a.py", b"x = 1  # about x\ndef f():\n    pass\n", "python")
    assert texts(Definitions(), source) == ["x = 1  # about x\n", "def f():\n    pass\n"]


def test_a_comment_apart_belongs_to_no_definition() -> None:
    """A blank line between a comment and a definition separates them."""
    source = SourceFile("a.py", b"# About the file.\n\ndef f():\n    pass\n", "python")
    assert texts(Definitions(), source) == ["# About the file.\n\n", "def f():\n    pass\n"]


def test_a_file_that_fits_is_one_chunk() -> None:
    """Nothing is cut that need not be."""
    source = fixture("inventory.py")
    assert texts(Cast(), source) == texts(CodeChunk(header=False), source) == [source.data.decode()]


def test_cast_fills_enters_and_merges() -> None:
    """Neighbours are filled up; a class that is too large is entered; its small parts are merged again."""
    source = SourceFile("a.py", b"a = 1\nb = 2\nclass C:\n    x = 1\n    def f(self):\n        return 100\n", "python")
    assert texts(Cast(size=18), source) == [
        "a = 1\nb = 2\n",
        "class C:\n",
        "    x = 1\n    def f(self):\n",
        "        return 100\n",
    ]


def test_code_chunk_merges_whatever_the_parents() -> None:
    """What cast keeps apart, because the parents differ, is one chunk here if it fits."""
    source = SourceFile("a.py", b"a = 1\nclass C:\n    x = 1\n    y = 2\n    z = 3\n", "python")
    assert texts(Cast(size=14), source) == ["a = 1\n", "class C:\n", "    x = 1\n    y = 2\n    z = 3\n"]
    assert texts(CodeChunk(size=14, header=False), source) == ["a = 1\nclass C:\n", "    x = 1\n    y = 2\n    z = 3\n"]


def test_chunks_begin_with_their_lines() -> None:
    """Where a window begins with a node that begins its line, the indentation is its own."""
    chunks = texts(Cast(size=120), fixture("Account.java"))
    assert "    public long balance() {\n" in "".join(chunk[:30] for chunk in chunks)


def test_an_oversized_leaf_is_cut_at_line_ends() -> None:
    """A long docstring is not a reason to go over the limit, nor to cut inside its lines."""
    source = SourceFile("a.py", b'"""' + b"twelve chars\n" * 40 + b'"""\n', "python")
    chunks = texts(Cast(size=50), source)
    assert len(chunks) > 5
    assert all(chunk.endswith("\n") for chunk in chunks)


def test_cast_overlap_repeats_neighbouring_nodes() -> None:
    """Each chunk also holds one node of the chunk before and one of the chunk after."""
    source = SourceFile("a.py", b"a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\n", "python")
    assert texts(Cast(size=6), source) == ["a = 1\nb = 2\n", "c = 3\nd = 4\n", "e = 5\nf = 6\n"]
    assert texts(Cast(size=6, overlap=1), source) == [
        "a = 1\nb = 2\nc = 3\n",
        "b = 2\nc = 3\nd = 4\ne = 5\n",
        "d = 4\ne = 5\nf = 6\n",
    ]


def test_cast_expansion_names_file_and_enclosing_definitions() -> None:
    """The header says where the chunk is; a definition that the chunk begins is not around it."""
    source = fixture("inventory.py")
    headers = {
        source.data[p.start : p.end].decode().split("(")[0].strip(): p.header
        for p in Cast(size=80, expansion=True).split(source)
    }
    assert headers["def __init__"] == "inventory.py\nclass Shelf"
    assert headers['class Shelf:\n    """Holds items until they are sold."""\n\n    capacity = LIMIT'] == "inventory.py"


def test_headers_name_the_nearest_of_many_enclosing_definitions() -> None:
    """All of fifty nested classes are named, and of a hundred the innermost."""
    for depth, named in ((50, 50), (100, 64)):
        heads = [f"class C{number}" for number in range(depth)]
        source = SourceFile("A.java", ("{\n".join([*heads, "int x;\n"]) + "}\n" * depth).encode(), "java")
        (header,) = [
            p.header for p in Cast(size=4, expansion=True).split(source) if b"int" in source.data[p.start : p.end]
        ]
        assert [line.strip() for line in header.split("\n")] == ["A.java", *heads[-named:]]


def test_code_chunk_header() -> None:
    """The header holds path, scope, definitions, imports, siblings and the lines before."""
    source = SourceFile("src/shop/stock/inventory.py", (CODE / "inventory.py").read_bytes(), "python")
    pieces = CodeChunk(size=150, overlap=2).split(source)
    (piece,) = [p for p in pieces if b"def put" in source.data[p.start : p.end]]
    assert piece.header.split("\n") == [
        "# shop/stock/inventory.py",
        "# Scope: Shelf",
        "# Defines: def put(self, name: str) -> bool",
        "# Uses: functools, Counter",
        "# After: __init__",
        "# Before: worth",
        "# ...",
        "",
        "    # A shelf never holds more than its capacity.",
        "# ---",
    ]


def test_an_unknown_language_falls_back_to_lines_and_says_so() -> None:
    """No grammar is no reason to fail or to stay silent."""
    source = SourceFile("a.xyz", b"one two\n" * 50, None)
    for name in ("cast:size=60", "code-chunk:size=60,header=false", "definitions:size=60"):
        chunker = CHUNKERS.create(name)
        assert chunker.fallback(source)  # type: ignore[attr-defined] # an optional part of the protocol
        assert all(text.endswith("\n") for text in texts(chunker, source))
    assert Cast().fallback(fixture("list.c")) is None


def test_every_grammar_of_the_pack_parses_and_is_cut() -> None:
    """All languages that are offered can be loaded, and cast cuts text in each of them."""
    data = b"first (second) { third; }\n# fourth\n" * 4
    for language in sorted(known_languages()):
        assert parser(language).parse(data).root_node is not None
        pieces = Cast(size=40).split(SourceFile("a", data, language))
        assert b"".join(data[piece.start : piece.end] for piece in pieces) == data


def test_definitions_that_touch_are_siblings_too() -> None:
    """The header names the function that ends where the chunk begins; only a newline ends a line."""
    code = "".join(f"function {name}(){{return 1;}}" for name in ("aa", "bb", "cc"))
    pieces = CHUNKERS.create("code-chunk:size=25,overlap=0").split(SourceFile("a.js", code.encode(), "javascript"))
    assert [line for piece in pieces for line in piece.header.splitlines() if line.startswith("# After")] == [
        "# After: aa",
        "# After: aa, bb",
    ]
    data = b"x = 1\ny = '\x0c'\n" + b"z = 2\n" * 4
    last = CHUNKERS.create("code-chunk:size=6,overlap=1").split(SourceFile("a.py", data, "python"))
    assert "# ...\ny = '\x0c'\n# ---" in [piece.header[piece.header.index("# ...") :] for piece in last[1:]]


def first_lines(spec: str, name: str) -> list[str]:
    """Return the first line of each piece of a fixture, without indentation."""
    data = (CODE / name).read_bytes()
    pieces = CHUNKERS.create(spec).split(SourceFile(name, data, language_of(name)))
    return [data[piece.start : piece.end].decode().strip().split("\n")[0] for piece in pieces]


@pytest.mark.parametrize(
    ("name", "firsts"),
    [
        ("Account.java", ["package bank;", "/** Money that belongs to somebody. */", "interface Auditor {"]),
        ("garden.rb", ["require 'set'", "module Garden", "def report(plants)", "report([Garden::Plant.rose.water!])"]),
        ("matrix.cpp", ["#include <vector>", "/// A dense matrix in row order.", "template <typename T>",
                        "}  // namespace math", "int main() {"]),
    ],
)  # fmt: skip
def test_declarations_are_those_of_the_file_itself(name: str, firsts: list[str]) -> None:
    """A class is one chunk with its methods, a namespace is looked into, code between declarations is kept apart."""
    assert first_lines("declarations", name) == firsts


@pytest.mark.parametrize(
    ("name", "firsts"),
    [
        ("list.c", ["#include <stdlib.h>", "// The new node becomes the head.", "#ifdef DEBUG",
                    "int sum(const list_t *list)", "#endif"]),
        ("queue.js", ["'use strict';", "// Waits before it calls again.", "/**", "constructor() {",
                      "// Returns the queue, for chaining.", "get size() { return this.items.length; }",
                      "function* drain(queue) {", "async function main() {", "main();"]),
        ("inventory.py", ['"""A small shop\'s inventory."""', "# Prices are in cents, so that sums are exact.",
                          "class Shelf:", "def __init__(self) -> None:",
                          "# A shelf never holds more than its capacity.", "@property",
                          'if __name__ == "__main__":', "def main() -> None:", "main()"]),
    ],
)  # fmt: skip
def test_functions_are_alone_and_types_are_not_functions(name: str, firsts: list[str]) -> None:
    """Each function has a chunk of its own with its comments; includes, structs and typedefs between them are one."""
    assert first_lines("functions", name) == firsts


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_function_of_every_language_begins_a_chunk(name: str) -> None:
    """A chunk begins with each function, comments included; `declarations` never cuts where `definitions` does not."""
    data = (CODE / name).read_bytes()
    source = SourceFile(name, data, language_of(name))
    assert source.language is not None
    functions = Functions().chosen(outline(root_of(source), CUT_NODES[source.language]))
    starts = {piece.start for piece in CHUNKERS.create("functions").split(source)}
    for function in functions:
        line = data.rfind(b"\n", 0, function.start) + 1
        assert {line, function.start} & starts
    cuts = {piece.start for piece in CHUNKERS.create("definitions").split(source)}
    assert {piece.start for piece in CHUNKERS.create("declarations").split(source)} <= cuts


def test_a_definition_below_an_empty_first_line_begins_at_its_own_line() -> None:
    """The first line of a file is a line like any other."""
    for lead in (b"\n", b"x = 1\n"):
        source = SourceFile("a.py", lead + b"def f():\n    return 1\n", "python")
        assert [(piece.start, piece.end) for piece in CHUNKERS.create("definitions").split(source)] == [
            (0, len(lead)),
            (len(lead), len(source.data)),
        ]


@pytest.mark.parametrize("spec", ["cast:size=1", "cast:size=40", "code-chunk:size=1,header=false,overlap=0"])
def test_a_grammar_that_places_nodes_at_one_byte_gives_no_empty_piece(spec: str) -> None:
    """Smali's parser puts several nodes where one begins, and some at the end of the file: pieces still tile it."""
    rng = random.Random(1)
    chunker = CHUNKERS.create(spec)
    for _ in range(150):
        data = bytes(rng.choice(b"abc.:;#\n \t\"'()[]{}\xff\xc3\xa9->.method\n") for _ in range(200))
        pieces = chunker.split(SourceFile("a.smali", data, "smali"))
        assert all(piece.start < piece.end for piece in pieces)
        assert b"".join(data[piece.start : piece.end] for piece in pieces) == data


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_children_are_skipped_as_if_each_were_looked_at(name: str, *, broken: bool) -> None:
    """The child after an offset is the first that ends after it, and those before it are covered, in any tree."""
    data = fixture(name).data
    root = root_of(SourceFile(name, data.replace(b"(", b")") if broken else data, language_of(name)))
    assert root.has_error == broken
    nodes = [root]
    for node in nodes:
        children = node.children
        nodes.extend(child for child in children if child.child_count)
        for offset in sorted({child.end_byte + off for child in children for off in (-1, 0)}):
            level = Level(node, None, node.end_byte, covered=min(node.start_byte, offset), first_window=0)
            before = [child.end_byte for child in children if child.end_byte <= offset]
            assert level.child_after(offset) == next((child for child in children if child.end_byte > offset), None)
            assert level.covered == max([min(node.start_byte, offset), *before])


def test_a_hidden_node_does_not_end_a_walk() -> None:
    """In shell scripts, a statement's line break is a node that no child shows: what follows it is cut as well."""
    lines = [f"# {'comment ' * 6}{number}\nrun {number}\n" for number in range(20)]
    source = SourceFile("a.sh", "".join(lines).encode(), "bash")
    assert texts(Cast(size=200), source) == ["".join(lines[at : at + 4]) for at in range(0, 20, 4)]
