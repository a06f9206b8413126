"""Documentation in every language that has a habit of it: what is found, and what is hidden."""

from __future__ import annotations

import pytest

from chunkers.languages import parser
from chunkers.types import SourceFile
from ground_truth.miners.definitions import definitions, hidden_docstrings, minable_languages

SAMPLES = {
    "javascript": (
        (
            "/**\n * Adds two numbers.\n * @param a one\n */\nexport function add(a, b) {\n  return a + b;\n}\n"
            "class K {\n  /** Grows by one. */\n  grow() { return 1; }\n}\n"
            "/** Squares it. */\n\nexports.square = function (x) {\n  return x * x;\n};\n"
            "// no documentation\nfunction plain() {}\n"
        ),
        [("add", 5, 7, "Adds two numbers."), ("grow", 10, 10, "Grows by one."), ("square", 14, 16, "Squares it.")],
    ),
    "typescript": (
        (
            "/** Adds. */\nexport const add = (a: number): number => {\n  return a;\n};\n"
            "export class K {\n  /** Grows. */\n  @deco()\n  grow(): void {\n  }\n}\n"
        ),
        [("add", 2, 4, "Adds."), ("grow", 7, 9, "Grows.")],
    ),
    "tsx": ("/** Shows. */\nexport function Show() {\n  return <b>x</b>;\n}\n", [("Show", 2, 4, "Shows.")]),
    "java": (
        (
            "/** A class. */\nclass A {\n  /**\n   * Adds up.\n   */\n"
            "  @Override\n  public int add(int a) {\n    return a;\n  }\n}\n"
        ),
        [("A", 2, 10, "A class."), ("add", 6, 9, "Adds up.")],
    ),
    "go": (
        (
            "package a\n\nvar x = 1 // not of Add\n// Add sums\n// things.\nfunc Add(a int) int {\n\treturn a\n}\n\n"
            "// far away\n\nfunc Sub() {}\n"
        ),
        [("Add", 6, 8, "Add sums\nthings.")],
    ),
    "rust": (
        "//! A module.\n\n/// Adds up.\n#[inline]\npub fn add(a: i32) -> i32 {\n    a\n}\n",
        [("add", 4, 7, "Adds up.")],
    ),
    "csharp": (
        (
            "class A {\n    /// <summary>\n    /// Adds up.\n    /// </summary>\n"
            "    [Fast]\n    public int Add(int a) {\n        return a;\n    }\n}\n"
        ),
        [("Add", 5, 8, "<summary>\nAdds up.\n</summary>")],
    ),
    "ruby": (
        (
            "class A\n  # Adds up.\n  # Twice.\n  def add(a)\n    a\n  end\n\n"
            "  # Other.\n  def self.other\n    1\n  end\nend\n"
        ),
        [("add", 4, 6, "Adds up.\nTwice."), ("other", 9, 11, "Other.")],
    ),
    "php": (
        (
            "<?php\nclass A {\n    /**\n     * Adds up.\n     */\n"
            "    public function add($a) {\n        return $a;\n    }\n}\n"
        ),
        [("add", 6, 8, "Adds up.")],
    ),
    "c": (
        (
            "/**\n * Adds up.\n * @param a one\n */\nstatic int *add(int a)\n{\n    return a;\n}\n\n"
            "/* Takes away. */\nint sub(int a) { return a; }\n\n// Declared only.\nint later(void);\n"
        ),
        [("add", 5, 8, "Adds up."), ("sub", 11, 11, "Takes away."), ("later", 14, 14, "Declared only.")],
    ),
    "cpp": (
        (
            "namespace n {\n/// Adds up.\n/// Twice.\ntemplate <typename T>\n"
            "T Box<T>::add(T a) const {\n  return a;\n}\n"
            "class K {\n public:\n  /*! Grows. */\n  K &grow() { return *this; }\n};\n}\n"
        ),
        [("add", 4, 7, "Adds up.\nTwice."), ("grow", 11, 11, "Grows.")],
    ),
    "kotlin": (
        (
            "package a\n/**\n * Adds up.\n * @param a one\n */\n@Fast\nsuspend fun <T> Box<T>.add(a: Int): Int {\n"
            "    return a\n}\nclass K {\n    /** Grows. */\n    fun grow() = 1\n}\n"
        ),
        [("add", 6, 9, "Adds up."), ("grow", 12, 12, "Grows.")],
    ),
    "swift": (
        (
            "/// Adds up.\n@discardableResult\npublic func add(_ a: Int) -> Int {\n    return a\n}\n"
            "class K {\n    /** Begins. */\n    init(x: Int) {\n        self.x = x\n    }\n}\n"
        ),
        [("add", 2, 5, "Adds up."), ("init", 8, 10, "Begins.")],
    ),
    "scala": (
        (
            "object A {\n  /** Adds up.\n    * Twice.\n    */\n  @inline\n"
            "  def add[A](x: A)(implicit y: Int): Int = {\n    y\n  }\n\n"
            "  /** Grows. */\n  def grow =\n    add(1)\n\n  /** Shrinks. */\n  def shrink: Int =\n    2\n}\n"
        ),
        [("add", 5, 8, "Adds up.\nTwice."), ("grow", 11, 12, "Grows."), ("shrink", 15, 16, "Shrinks.")],
    ),
    "lua": (
        (
            "--- Adds up.\n-- Twice.\nfunction M.add(a)\n  return a\nend\n\n-- Local.\n"
            "local grow = function(x)\n  return x\nend\n"
            "--[[ Shrinks. ]]\nfunction M:shrink()\n  return 1\nend\n"
        ),
        [("add", 3, 5, "Adds up.\nTwice."), ("grow", 8, 10, "Local."), ("shrink", 12, 14, "Shrinks.")],
    ),
    "bash": (
        "#!/bin/bash\n# Adds up.\n# Twice.\nadd() {\n  echo 1\n}\n\n# Other.\nfunction other {\n  echo 2\n}\n",
        [("add", 4, 6, "Adds up.\nTwice."), ("other", 9, 11, "Other.")],
    ),
    "perl": (
        (
            "=head1 A\n\nOf users.\n\n=cut\n\n# Adds up.\n# Twice.\nsub add {\n  return 1;\n}\n\n"
            "## Other.\nsub other { 2 }\n"
        ),
        [("add", 9, 11, "Adds up.\nTwice."), ("other", 14, 14, "Other.")],
    ),
    "zig": (
        "/// Adds up.\n/// Twice.\npub fn add(a: u32) u32 {\n    return a;\n}\n",
        [("add", 3, 5, "Adds up.\nTwice.")],
    ),
    "elixir": (
        (
            'defmodule A do\n  @doc """\n  Adds up.\n  """\n  @spec add(integer) :: integer\n  def add(0), do: 0\n\n'
            '  def add(a) do\n    a\n  end\n\n  @doc "Other."\n  def other(a) when a > 1 do\n    a\n  end\n\n'
            "  @doc false\n  def hidden(a), do: a\n\n"
            '  @doc "Called back."\n  @callback called(integer) :: integer\n  def another(a) do\n    a\n  end\nend\n'
        ),
        [("add", 5, 10, "Adds up."), ("other", 13, 15, "Other.")],
    ),
    "haskell": (
        (
            "module A where\n\n-- | Adds up.\n-- Twice.\nadd :: Int -> Int\nadd 0 = 1\nadd x = y\n"
            "  where\n    y = x\n\n"
            "{-| Other. -}\nother x = x\n"
        ),
        [("add", 5, 9, "Adds up.\nTwice."), ("other", 12, 12, "Other.")],
    ),
    "julia": (
        (
            'module A\n\n"""\n    add(a, b)\n    add(a)\n\nAdds up.\n"""\nfunction add(a, b)\n    a + b\nend\n\n'
            '"Grows."\n@inline grow(x)::Int = x\n\n@doc raw"""\nShrinks.\n"""\n'
            "function Base.shrink!(x::T) where T\n    x\nend\n\n"
            '"A type."\nstruct T end\n\n"no documentation"\n\nplain(x) = x\n"A number."\nsize::Int = 1\nend\n'
        ),
        [
            ("add", 9, 11, "Adds up."),
            ("grow", 14, 14, "Grows."),
            ("shrink!", 19, 21, "Shrinks."),
        ],
    ),
    "python": ('def add(a):\n    """Adds."""\n    return a\n', [("add", 1, 3, "Adds.")]),
    "dart": (
        (
            "/// Adds up.\n@pragma('fast')\nint add(int a) {\n  return a;\n}\n\n/// A class.\nclass A {\n"
            "  /// Grows\n  /// by one.\n  void grow() {\n    more();\n  }\n\n"
            "  /// The size.\n  int get size => 1;\n}\n"
        ),
        [
            ("add", 2, 5, "Adds up."),
            ("A", 8, 17, "A class."),
            ("grow", 11, 13, "Grows\nby one."),
            ("size", 16, 16, "The size."),
        ],
    ),
    "fsharp": (
        (
            "module A\n\n/// Adds up.\n[<Fast>]\nlet add (a: int) =\n    a\n\n"
            "type T() =\n    /// Grows.\n    member x.grow(a: int) =\n        a\n\n// a remark\nlet plain x = x\n"
        ),
        [("add", 4, 6, "Adds up."), ("grow", 10, 11, "Grows.")],
    ),
    "ocaml": (
        (
            "(** Adds up. *)\nlet add a =\n  a\n\nmodule M = struct\n  (** Grows,\n      twice. *)\n"
            "  let rec grow x = more x\nend\n\n(* no documentation *)\nlet plain x = x\n"
        ),
        [("add", 2, 3, "Adds up."), ("grow", 8, 8, "Grows,\n      twice.")],
    ),
    "r": (
        (
            "#' Adds up\n#'\n#' @param a one\n#' @export\nadd <- function(a) {\n  a\n}\n"
            "# no documentation\nplain <- function() 1\n#' Grows.\ngrow = function(x) x\n"
        ),
        [("add", 5, 7, "Adds up\n"), ("grow", 11, 11, "Grows.")],
    ),
    "nim": (
        (
            "proc add*(a: int): int {.inline.} =\n  ## Adds up,\n  ## twice.\n  a\n\n"
            "template grow(x) =\n  ##[ Grows. ]##\n  # a remark\n  x\n\nproc plain(): int =\n  # a remark\n  1\n"
        ),
        [("add", 1, 4, "Adds up,\ntwice."), ("grow", 6, 9, "Grows.")],
    ),
}


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_definitions_with_their_lines_and_documentation(language: str) -> None:
    """Attributes and export belong to the definition; what stands too far above does not document it."""
    text, expected = SAMPLES[language]
    found = [one for one in definitions(SourceFile("f", text.encode(), language)) if one.name]
    assert [(one.name, one.start_line, one.end_line, one.doc.split("\n@")[0]) for one in found] == expected


def test_strings_of_julia_are_documentation_only_right_above_something() -> None:
    """What documents a type or a constant is hidden and asks nothing; other strings, and an empty `@doc`, are code."""
    text = b'"A."\nstruct T end\n"B."\nconst x::Int = 1\n"no"\n\nf(x) = "no"\n@doc\n@doc()\n"a $(x) C."\ng(x) = x\n'
    found = definitions(SourceFile("f", text, "julia"))
    assert [(one.doc, one.is_function) for one in found] == [("A.", False), ("B.", False), ("a  C.", True)]
    assert [text[start:end] for one in found for start, end in one.comment_spans] == [b'"A."', b'"B."', b'"a $(x) C."']


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_what_has_a_body_is_no_declaration(language: str) -> None:
    """Lines that say something are counted in every form of a function; what is declared only has none."""
    found = [one for one in definitions(SourceFile("f", SAMPLES[language][0].encode(), language)) if one.is_function]
    assert found
    assert [one.name for one in found if one.is_overload] == (["later"] if language == "c" else [])
    if language == "lua":
        text = b"--- Grows.\nM.grow = function(x)\n  local y = x\n\n  return y\nend\n"
        found += definitions(SourceFile("f", text, language))
    assert [one.body_lines for one in found if one.name in ("add", "Add", "Show")] == (
        [{"elixir": 2, "haskell": 4}.get(language, 1)]
    )
    assert [one.body_lines for one in found if one.name == "grow"] == (
        {"lua": [1, 2], "typescript": [0]}.get(language, [1] * sum(one.name == "grow" for one in found))
    )


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_hidden_spans_cover_the_documentation_and_lie_outside_the_code(language: str) -> None:
    """What is hidden lies inside the file, in order, holds every word of the documentation, and no line of code."""
    text, expected = SAMPLES[language]
    data = text.encode()
    spans = hidden_docstrings(SourceFile("f", data, language, "r"))
    assert [(span.repo, span.path) for span in spans] == [("r", "f")] * len(spans)
    edges = [edge for span in spans for edge in (span.start_byte, span.end_byte)]
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] <= len(data)
    hidden = b"\n".join(data[span.start_byte : span.end_byte] for span in spans)
    for *_, doc in expected:
        assert all(line.encode() in hidden for line in doc.split("\n"))
    visible = data
    for span in reversed(spans):
        visible = visible[: span.start_byte] + visible[span.end_byte :]
    assert not parser(language).parse(visible).root_node.has_error
    for name, *_ in expected:
        assert name.encode() in visible


@pytest.mark.parametrize(
    ("language", "text", "doc"),
    [
        ("bash", "# ------\n# Tools\n# ------\n# Adds up.\nf() {\n  echo\n}\n", "Adds up."),
        ("bash", "###### Tools below ######\n# Adds up.\nf() {\n  echo\n}\n", "Adds up."),
        ("c", "/*****\n * Adds up.\n *****/\nint f(void) {\n  return 1;\n}\n", "Adds up."),
        ("c", "/*\n * Adds up.\n */\n\nint\nf (void)\n{\n  return 1;\n}\n", "Adds up."),
        ("haskell", "-- | Makes a \\<b> of <https://e.org/x the text>.\nf :: Int\nf = 1\n", "Makes a <b> of the text."),
        ("zig", "/// Adds:\n/// * one\n/// * two\nfn f() void {}\n", "Adds:\n* one\n* two"),
        ("haskell", "-- | \\(O(n \\log n)\\). Adds up.\nf :: Int\nf = 1\n", "Adds up."),
        ("haskell", "-- | @'f' x y@ adds 'g' to\n-- @y@, as /usual/.\nf :: Int\nf = 1\n", "adds g to\ny, as usual."),
    ],
)
def test_marks_headings_and_costs_are_no_documentation(language: str, text: str, doc: str) -> None:
    """Rulers, what they set off, Haddock's marks and the cost that opens a text are gone; lists stay lists."""
    assert [one.doc for one in definitions(SourceFile("f", text.encode(), language))] == [doc]


def test_every_language_has_a_sample() -> None:
    """A language that is added to the table is added here."""
    assert set(SAMPLES) == minable_languages()


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_broken_code_does_not_stop_the_miner(language: str) -> None:
    """Cut anywhere, a file still gives what parses, and nothing is hidden past its end."""
    data = SAMPLES[language][0].encode()
    for end in range(0, len(data), 7):
        source = SourceFile("f", data[:end], language)
        assert all(span.end_byte <= end for span in hidden_docstrings(source))
