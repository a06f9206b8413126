"""Languages by name, then by content."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers import languages
from chunkers.language_content import AMBIGUOUS
from chunkers.languages import INJECTED_LANGUAGES, UNSAFE_GRAMMARS, known_languages, language_of, name_decides
from chunkers.sources import walk
from chunkers.syntax import no_grammar
from chunkers.types import SourceFile
from ground_truth.miners.comments import hidden_comments

CASES = [
    ("a.h", "#ifndef A\n#define A\nint add(int a);\nstruct b { int c; };\n#endif\n", "c"),
    ("a.h", "#pragma once\nnamespace n {\nclass K {\n public:\n  int a;\n};\n}\n", "cpp"),
    ("a.h", '#ifdef __cplusplus\nextern "C" {\n#endif\nint add(int a);\n', "c"),
    ("a.h", "#include <vector>\nint add(int a);\n", "cpp"),
    ("a.h", "#import <Foundation/Foundation.h>\n@interface K : NSObject\n@end\n", "objc"),
    ("a.m", "@implementation K\n@end\n", "objc"),
    ("a.m", "% adds up\nfunction y = add(x)\ny = x;\nend\n", "matlab"),
    ("parse.y", "%{\n#include <stdio.h>\n%}\n%token A\n%%\nexpr: A ;\n%%\n", "c"),
    ("parse.y", "class Parser\nrule\n  expr: A\nend\n---- inner\n", "ruby"),
    ("parse.y", "%{\npackage main\n%}\n%%\n", "go"),
    ("scan.l", "%{\nint n;\n%}\n%%\n[a-z]+ { n++; }\n%%\n", "c"),
    ("a.ll", "define i32 @f() {\n  ret i32 0\n}\n", "llvm"),
    ("a.inc", "<?php\nfunction f() {}\n", "php"),
    ("a.pl", "use strict;\nmy $a = 1;\n", "perl"),
    ("a.pl", ":- module(a, [b/1]).\nb(X) :- c(X).\n", None),
    ("a.v", "module adder(input a);\nendmodule\n", "verilog"),
    ("a.v", "fn main() {\n  println('a')\n}\n", "v"),
    ("tool", "#!/usr/bin/env python3\nprint(1)\n", "python"),
    ("tool", "#!/bin/sh\necho 1\n", "bash"),
    ("tool", "#!/usr/bin/env -S node --flag\n1\n", "javascript"),
    ("tool", "#!/usr/local/bin/ruby2.7 -w\nputs 1\n", "ruby"),
    ("tool", "#!/opt/unheard/of\n", None),
    ("LICENSE", "MIT License\n", None),
    ("config.h.in", "#undef A\n", "c"),
    ("setup.py.in", "import a\n", "python"),
    ("99-usb.rules", 'SUBSYSTEM=="usb"\n', "udev"),
]


@pytest.mark.parametrize(("name", "text", "language"), CASES)
def test_content_decides_where_the_name_does_not(name: str, text: str, language: str | None) -> None:
    """The name's word stands unless the content says otherwise; a language without a grammar is none."""
    assert language_of(name, text.encode()) == language


def test_scripts_without_an_extension_are_walked(tmp_path: Path) -> None:
    """A shebang makes a file source; without one it stays out, with the reason."""
    (tmp_path / "tool").write_text("#!/usr/bin/env python3\nprint(1)\n")
    (tmp_path / "LICENSE").write_text("MIT\n")
    (tmp_path / "k.h").write_text("class K {\n};\n")
    folder = walk(tmp_path)
    assert [(source.path, source.language) for source in folder.files()] == [("k.h", "cpp"), ("tool", "python")]
    assert dict(folder.skipped) == {"LICENSE": "no known language"}
    assert walk(tmp_path, languages={"cpp"}).paths == ("k.h",)


def test_every_grammar_has_a_file_name_or_is_for_text_inside_files() -> None:
    """No grammar of the pack is out of reach without a word."""
    named = {*languages._BY_EXTENSION.values(), *languages._BY_NAME.values()}
    assert named | INJECTED_LANGUAGES == known_languages() | UNSAFE_GRAMMARS
    assert not named & INJECTED_LANGUAGES


def test_names_that_decide_never_need_the_content() -> None:
    """Whoever asks the name alone gets the same answer as with the content."""
    for name in ("a.py", "a.rs", "Makefile", "photo.jpeg", "a.json"):
        assert name_decides(name)
        assert language_of(name) == language_of(name, b"#!/bin/sh\n")
    assert not any(name_decides(f"a.{extension}") for extension in AMBIGUOUS)


@given(st.binary(max_size=200), st.sampled_from([*sorted(AMBIGUOUS), ""]))
def test_any_content_gives_a_known_language_or_none(data: bytes, extension: str) -> None:
    """No content leads to a grammar that is not there."""
    found = language_of(f"a.{extension}" if extension else "a", data)
    assert found is None or found in known_languages()


def test_a_grammar_that_never_returns_is_not_used() -> None:
    """Its files keep their language's name, and are cut as those of a language without a grammar."""
    source = SourceFile("a.cob", b"abc\n", language_of("a.cob"))
    assert source.language in UNSAFE_GRAMMARS
    assert no_grammar(source) == "no grammar for cobol"
    assert hidden_comments(source) == ()
