"""Detects languages by content, where a file's name allows several or says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_HEAD = 65_536
_CPP = re.compile(
    rb"^[ \t]*(?:class\s+[\w:]+(?:\s+final)?\s*(?:[:{]|$)|namespace\b[\w: \t]*\{|namespace\s+\w+\s*$|template\s*<"
    rb"|using\s+(?:namespace\b|\w+\s*=)|(?:public|private|protected)\s*:|enum\s+class\b|constexpr\s"
    rb"|\#\s*include\s*<(?:algorithm|array|atomic|chrono|cstd\w+|cstring|functional|initializer_list|iostream|iterator"
    rb"|limits|list|map|memory|mutex|new|optional|ostream|set|sstream|string|string_view|tuple|type_traits"
    rb"|unordered_\w+|utility|variant|vector)>)|\bstd::|\bstatic_cast<|\bnullptr\b|\boperator\s*(?:[-+*/=<>!]+|\(\))\s*\(",
    re.MULTILINE,
)
_OBJC = re.compile(rb"^[ \t]*(?:@(?:interface|protocol|implementation|class|import|end)\b|#\s*import\b)", re.MULTILINE)
_MATLAB = re.compile(rb"^[ \t]*(?:%|function\b|classdef\b|end\b)", re.MULTILINE)
_C_COMMENT = re.compile(rb"(?:/\*|//|#\s*(?:include|define|if))")
_RACC = re.compile(rb"^[^\S\n]*(?:class\s+[A-Z]\w*|rule\s*$|---- (?:header|inner|footer))", re.MULTILINE)
_GOYACC = re.compile(rb"^[ \t]*%\{\s*(?://[^\n]*\n\s*)*package\s+\w+", re.MULTILINE)
_PROLOG = re.compile(rb"^(?::-\s|[a-z]\w*\([^)]{0,1000}\)\s*:-)", re.MULTILINE)
_VERILOG = re.compile(rb"^[^\S\n]*(?:`\w+|(?:module|endmodule|primitive|always|assign|wire|reg)\b)", re.MULTILINE)
_LATEX = re.compile(rb"\\(?:NeedsTeXFormat|ProvidesClass|documentclass|RequirePackage)")
_PUPPET = re.compile(
    rb"^[^\S\n]*(?:class\s+[\w:]+\s*[({]|define\s+[\w:]+|node\s+|\$\w+\s*=|\w+\s*\{\s*['\"])", re.MULTILINE
)
_QT_LINGUIST = re.compile(rb"\A\s*<\?xml|\A\s*<!DOCTYPE TS>")
_GLSL = re.compile(rb"^[^\S\n]*(?:#version\b|void\s+main\s*\(|(?:uniform|varying|attribute)\s)", re.MULTILINE)
_LEX = re.compile(rb"^%%", re.MULTILINE)
_SHEBANG = re.compile(rb"\A#![ \t]*(?:\S*/)?(?:env(?:[ \t]+-\S+|[ \t]+\w+=\S*)*[ \t]+(?:\S*/)?)?([\w.+-]+)")
_INTERPRETERS = {
    "sh": "bash", "bash": "bash", "dash": "bash", "ksh": "bash", "zsh": "bash", "ash": "bash", "bats": "bash",
    "fish": "fish", "python": "python", "pypy": "python", "uv": "python", "ruby": "ruby", "jruby": "ruby",
    "perl": "perl", "node": "javascript", "nodejs": "javascript", "deno": "typescript", "bun": "typescript",
    "ts-node": "typescript", "tsx": "typescript", "php": "php", "lua": "lua", "luajit": "lua", "texlua": "lua",
    "tclsh": "tcl", "wish": "tcl", "expect": "tcl", "Rscript": "r", "julia": "julia", "elixir": "elixir",
    "escript": "erlang", "runhaskell": "haskell", "runghc": "haskell", "stack": "haskell", "ocaml": "ocaml",
    "scala": "scala", "groovy": "groovy", "kotlin": "kotlin", "swift": "swift", "make": "make", "gmake": "make",
    "awk": "bash", "pwsh": "powershell", "racket": "racket", "guile": "scheme", "sbcl": "commonlisp",
    "clojure": "clojure", "bb": "clojure", "janet": "janet", "nu": "bash", "osascript": "javascript",
}  # fmt: skip


def _first(*rules: tuple[re.Pattern[bytes], str]) -> Callable[[bytes], str | None]:
    """Return a function that returns the language of the first rule that matches the content, or None."""
    return lambda head: next((language for pattern, language in rules if pattern.search(head)), None)


AMBIGUOUS: Final = {
    "h": _first((_OBJC, "objc"), (_CPP, "cpp")),
    "m": _first((_OBJC, "objc"), (_C_COMMENT, "objc"), (_MATLAB, "matlab")),
    "y": _first((_GOYACC, "go"), (_LEX, "c"), (_RACC, "ruby")),
    "l": _first((_LEX, "c"), (re.compile(rb"\A\s*[;(]"), "commonlisp")),
    "ll": _first((_LEX, "cpp")),
    "inc": _first((re.compile(rb"\A\s*<\?php"), "php"), (_CPP, "cpp"), (_C_COMMENT, "c")),
    "pl": _first((_PROLOG, "")),
    "v": _first((_VERILOG, "verilog")),
    "cls": _first((_LATEX, "latex")),
    "pp": _first(
        (_PUPPET, "puppet"), (re.compile(rb"(?i)^[^\S\n]*(?:unit|program|uses|begin)\b", re.MULTILINE), "pascal")
    ),
    "ts": _first((_QT_LINGUIST, "xml")),
    "fs": _first((_GLSL, "glsl")),
}
"""Extension → the language of a file's head, empty if it has no grammar, None if content does not decide."""


def language_of_content(data: bytes, extension: str) -> str | None:
    """Return the language that the content shows, or None if the name decides.

    Empty if the content is clearly in a language without a grammar.
    """
    head = data[:_HEAD]
    if head.startswith(b"#!") and (found := _SHEBANG.match(head)):
        name = found[1].decode("ascii", "replace")
        return _INTERPRETERS.get(name) or _INTERPRETERS.get(re.sub(r"[\d.]+$", "", name))
    rule = AMBIGUOUS.get(extension)
    return rule(head) if rule else None
