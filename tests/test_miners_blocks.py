"""What comments introduce and document, language by language; in these tables | ends a line."""

from __future__ import annotations

import pytest

from ground_truth.miners.comment_blocks import commented_blocks
from ground_truth.miners.doc_comments import commented_definitions

BLOCKS = [
    ("nim", "proc f() =|  ## a|  x()|  y()|", [("a", "documents a definition")]),
    ("nim", "proc f() =|  # a|  x()|  y()|", [("a", "3-4")]),
    ("python", "def f():|    # a|    x = 1|    y = 2|", [("a", "3-4")]),
    ("python", "def f():|    # a|    # b|    x = 1|", [("a|b", "4-4")]),
    (
        "python",
        "def f():|    # a|     # b|    x = 1|",
        [("a", "introduces no statement"), ("b", "introduces no statement")],
    ),
    ("python", "def f():|    # a||    x = 1|", [("a", "introduces no statement")]),
    ("python", "def f():|    # a|    x = 1||    y = 2|", [("a", "3-3")]),
    ("python", "def f():|    # a|    x = 1|    # b|    y = 2|", [("a", "3-3"), ("b", "5-5")]),
    (
        "python",
        "def f():|    # a|        # b|    x = 1|",
        [("a", "introduces no statement"), ("b", "introduces no statement")],
    ),
    ("python", "def f():|    x = 1  # a|    y = 2|", []),
    ("python", "def f():|    # a|    def g():|        pass|", [("a", "documents a definition")]),
    ("python", "def f():|    # a|    class G:|        pass|", [("a", "documents a definition")]),
    ("python", "class A:|    # a|    x = 1|", [("a", "outside a body")]),
    ("python", "# a|x = 1|", [("a", "outside a body")]),
    ("python", "def f():|    # a|", [("a", "outside a body")]),
    ("python", "def f():|    x = [|        # a|        1,|    ]|", [("a", "inside an expression")]),
    ("python", "def f():|    # a|    if x:|        y = 1|    else:|        z = 2|    w = 3|", [("a", "3-7")]),
    ("python", "def f():|    if x:|        # a|        y = 1|    z = 2|", [("a", "4-4")]),
    ("python", "def f():|    # a|    x = 1; y = 2|    z = 3|", [("a", "3-4")]),
    ("python", "def f():|    # a|    @g|    def h(): pass|", [("a", "documents a definition")]),
    ("python", "class A:|    def f(self):|        # a|        x = 1|        return x|", [("a", "4-5")]),
    ("javascript", "function f() {|  // a|  // b|  g();|  h();|}|", [("a|b", "4-5")]),
    ("javascript", "function f() {|  /* a */|  g();|}|", [("a", "3-3")]),
    ("javascript", "function f() {|  /** a */|  g();|}|", [("a", "documents a definition")]),
    ("javascript", "function f() {|  // a|  return {|    x: 1,|  };|}|", [("a", "3-5")]),
    ("javascript", "f(() => {|  // a|  g();|  h();|});|", [("a", "3-4")]),
    ("javascript", "class A {|  // a|  f() {|    // b|    g();|  }|}|", [("a", "outside a body"), ("b", "5-5")]),
    ("javascript", "function f() {|  // a|  const g = () => 1;|  h();|}|", [("a", "3-4")]),
    ("rust", "fn f() {|    // a|    let x = 1;|    let y = 2;||    g(x);|}|", [("a", "3-6")]),
    ("rust", "mod tests {|    fn f() {|        // a|        g();|    }|}|", [("a", "inside a test")]),
    ("rust", "mod other {|    fn f() {|        // a|        g();|    }|}|", [("a", "4-4")]),
    ("zig", 'test "x" {|    // a|    g();|}|', [("a", "inside a test")]),
    (
        "java",
        "class A {|  void f() {|    // a|    int x = 1;|    int y = 2;||    g(x);|    h();|  }|}|",
        [("a", "4-8")],
    ),
    ("java", "class A {|  // a|  int x = 1;|}|", [("a", "outside a body")]),
    ("c", "void f(void) {|  // a|  int g(int);|}|", [("a", "documents a definition")]),
    ("ruby", "def f|  # a|  g|  h|end|", [("a", "3-4")]),
    ("perl", "sub f {|  # a|  my $x = 1;|  g($x);|}|", [("a", "3-4")]),
    ("perl", "# a|sub f {|  # b|  sub g { 1 }|}|", [("a", "outside a body"), ("b", "documents a definition")]),
    ("fsharp", "type A() =|  member this.F(x) =|    // a|    g x|    h x|", [("a", "4-5")]),
    ("nim", "iterator f(): int =|  # a|  x()|  yield 1|", [("a", "3-4")]),
    ("verilog", "module a;|  task f();|    // a|    g();|    h();|  endtask|endmodule|", [("a", "4-5")]),
    ("bash", "f() {|  # a|  g|  h|}|", [("a", "3-4")]),
    ("bash", "# a|g|h|", [("a", "outside a body")]),
    (
        "elixir",
        "defmodule A do|  def f do|    # a|    x = 1|    g(x)|  end|  # b|  @x 1|end|",
        [("a", "4-5"), ("b", "outside a body")],
    ),
    ("haskell", "f x = do|  -- a|  g x|  h x|", [("a", "3-4")]),
    ("clojure", "(defn f []|  ; a|  (g)|  (h))|", [("a", "3-4")]),
    ("sql", "-- a|select 1;|", [("a", "outside a body")]),
    ("lua", "function f()|  -- a|  g()|  --[[ b|  c ]]|  h()|end|", [("a", "3-3"), ("b|  c", "6-6")]),
    ("go", "func f() {|\t// a|\tvar x int|\tvar y int||\tg(x)|}|", [("a", "3-6")]),
    ("swift", "func f() {|    // a|    g()|    h()|}|", [("a", "3-4")]),
    ("scala", "object A {|  def f = {|    // a|    g()|    h()|  }|}|", [("a", "4-5")]),
]
"""Language, text, and of each comment what it says and the lines that it introduces, or why it introduces none."""

DEFINITIONS = [
    (
        "javascript",
        "/** Reads rows. */|function read() {|  return 1;|}|",
        [("read 2-4", "Reads rows.", 1, "function marked")],
    ),
    (
        "javascript",
        "/** Reads rows. */||function read() {|  return 1;|}|",
        [("read 3-5", "Reads rows.", 1, "function marked")],
    ),
    ("javascript", "/** Reads rows. */|||function read() {|  return 1;|}|", []),
    ("javascript", "// Reads rows.|function read() {|  return 1;|}|", []),
    (
        "javascript",
        "/** Reads rows. */|export const read = () => {|  a();||  b();|};|",
        [("read 2-6", "Reads rows.", 2, "function marked")],
    ),
    (
        "javascript",
        "/**| * Reads rows.| * And sorts.| */|class A {|  /** Sorts. */|  sort() {}|}|",
        [("A 5-8", "Reads rows.|And sorts.", 2, "marked"), ("sort 7-7", "Sorts.", 1, "function marked")],
    ),
    ("javascript", "x = 1; /** Reads rows. */|function read() {}|", []),
    (
        "javascript",
        "const o = {|  /** Reads. */|  read: function () {|    return 1;|  },|};|",
        [("read 3-5", "Reads.", 1, "function marked")],
    ),
    (
        "typescript",
        "interface A {|  /** Reads. */|  read(): void;|}|",
        [("read 3-3", "Reads.", 0, "function overload marked")],
    ),
    ("typescript", "/** Reads. */|@a|class B {|  x = 1;|}|", [("B 2-5", "Reads.", 1, "marked")]),
    (
        "go",
        "// Read reads rows.|// And sorts.|func Read() {|\tx()|}|",
        [("Read 3-5", "Read reads rows.|And sorts.", 1, "function marked")],
    ),
    ("go", "// Read reads rows.||func Read() {|\tx()|}|", []),
    (
        "rust",
        "/// Reads rows.|#[inline]|pub fn read() -> u8 {|    1|}|",
        [("read 2-5", "Reads rows.", 1, "function marked")],
    ),
    ("rust", "/// Reads rows.||#[inline]|fn read() {}|", []),
    ("rust", "//! Module.|fn read() {}|", []),
    (
        "java",
        "class A {|  /** Reads rows. */|  void read() {|    x();|    y();}||  /** Sorts. */|  abstract void sort();}",
        [("read 3-5", "Reads rows.", 2, "function marked"), ("sort 8-8", "Sorts.", 0, "function overload marked")],
    ),
    ("c", "/* Reads rows. */|int read(void) {|  return 1;|}|", [("read 2-4", "Reads rows.", 1, "function")]),
    ("c", "/** Reads rows. */|int *read(void);|", [("read 2-2", "Reads rows.", 0, "function overload marked")]),
    (
        "cpp",
        "/// Reads rows.|template <class T>|int read(T x) {|  return x;|}|",
        [("read 2-5", "Reads rows.", 1, "function marked")],
    ),
    ("ruby", "# Reads rows.|def read|  1|end|", [("read 2-4", "Reads rows.", 1, "function")]),
    ("ruby", "#!/usr/bin/env ruby|def read|  1|end|", []),
    ("ruby", "##|# Reads rows.|class A|  def b; end|end|", [("A 3-5", "Reads rows.", 1, "marked")]),
    (
        "php",
        "<?php|/** Reads rows. */|function read() {|  return 1;|}|",
        [("read 3-5", "Reads rows.", 1, "function marked")],
    ),
    (
        "lua",
        "--- Reads rows.|local function read()|  return 1|end|",
        [("read 2-4", "Reads rows.", 1, "function marked")],
    ),
    ("lua", "-- Reads rows.|M.read = function()|  return 1|end|", [("read 2-4", "Reads rows.", 1, "function")]),
    ("bash", "# Reads rows.|read_rows() {|  x|  y|}|", [("read_rows 2-5", "Reads rows.", 2, "function")]),
    ("zig", "/// Reads rows.|pub fn read() u8 {|    return 1;|}|", [("read 2-4", "Reads rows.", 1, "function marked")]),
    (
        "kotlin",
        "/** Reads rows. */|fun read(): Int {|    return 1|}|",
        [("read 2-4", "Reads rows.", 1, "function marked")],
    ),
    (
        "swift",
        "/// Reads rows.|func read() -> Int {|    return 1|}|",
        [("read 2-4", "Reads rows.", 1, "function marked")],
    ),
    ("scala", "/** Reads rows. */|def read: Int = {|  1|}|", [("read 2-4", "Reads rows.", 1, "function marked")]),
    (
        "csharp",
        "class A {|  /// <summary>Reads.</summary>|  void Read() {|    X();|  }|}|",
        [("Read 3-5", "<summary>Reads.</summary>", 1, "function marked")],
    ),
]
"""Language, text, and of each documented definition its name and lines, documentation, lines of its body, and kind."""


@pytest.mark.parametrize(("language", "text", "expected"), BLOCKS)
def test_what_each_comment_introduces(language: str, text: str, expected: list[tuple[str, str]]) -> None:
    """Statements at its depth from the next line on, up to a blank line or the next comment; or the reason."""
    found = commented_blocks(text.replace("|", "\n").encode(), language)
    told = [
        (each.comment.text.replace("\n", "|"), f"{each.lines.first}-{each.lines.last}" if each.lines else each.problem)
        for each in found
    ]
    assert told == expected


@pytest.mark.parametrize(("language", "text", "expected"), DEFINITIONS)
def test_what_each_definition_is_documented_by(
    language: str, text: str, expected: list[tuple[str, str, int, str]]
) -> None:
    """The comment right above it and its attributes, one blank line below a block allowed; spans hold the words."""
    data = text.replace("|", "\n").encode()
    told = []
    for each in commented_definitions(data, language):
        kinds = {"function": each.is_function, "overload": each.is_overload, "marked": each.is_marked}
        place = f"{each.name} {each.start_line}-{each.end_line}"
        told.append(
            (place, each.doc.replace("\n", "|"), each.body_lines, " ".join(kind for kind, so in kinds.items() if so))
        )
        words = " ".join(data[start:end].decode().replace("*", "") for start, end in each.doc_spans).split()
        assert words == each.doc.split()
        for start, end in each.comment_spans:
            assert all(start < first < last <= end for first, last in each.doc_spans)
            assert not data[start:end].endswith(b"\n")
    assert told == expected
