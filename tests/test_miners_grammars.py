"""The miners on every grammar of the pack: never a crash, and every place lies inside its file."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.languages import known_languages
from chunkers.types import SourceFile
from ground_truth.miners.comment_blocks import commented_blocks, has_comments
from ground_truth.miners.comments import hidden_comments
from ground_truth.miners.definitions import definitions, hidden_docstrings, minable_languages

PIECES = (
    "fn f() {", "def f(a):", "function f(a)", "func f() {", "}", "end", "  x = 1;", "\tx = y", "    return x", "",
    "# Compute the mean of every column now.", "// Compute the mean of every column now.", '"""', "'''", '@doc "a"',
    "-- Compute the mean of every column now.", "/* Compute the mean of every column now. */", "/**", " */", "{-", "-}",
    ";; Compute the mean of every column now.", "% Compute the mean of every column now.", "class K {", "if x:", "do",
    "<!-- Compute the mean of every column now. -->", "(* Mean. *)", "é\u2028", "\r", "\x00", "#!", "#", "//",
)  # fmt: skip


def assert_inside(source: SourceFile) -> None:
    """Assert that whatever is found lies inside the file."""
    lines = source.data.count(b"\n") + 1
    for span in (*hidden_docstrings(source), *hidden_comments(source)):
        assert 0 <= span.start_byte < span.end_byte <= len(source.data)
    for definition in definitions(source):
        assert 1 <= definition.start_line <= definition.end_line <= lines
    for found in commented_blocks(source.data, source.language or ""):
        assert found.lines is None or 1 <= found.lines.first <= found.lines.last <= lines


@pytest.mark.parametrize("language", sorted(known_languages()))
def test_random_input_of_any_grammar_is_harmless(language: str) -> None:
    """Lines of many languages in any order are mined without a crash."""
    chance = random.Random(language)
    for size in (0, 1, 5, 40):
        text = "\n".join(chance.choice(PIECES) for _ in range(size))
        assert_inside(SourceFile("f", text.encode(), language, "r"))


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(minable_languages())),
    st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join) | st.text(max_size=80),
)
def test_any_text_of_a_documented_language_is_harmless(language: str, text: str) -> None:
    """The same for the languages whose documentation is read."""
    assert_inside(SourceFile("f", text.encode("utf-8", "surrogatepass"), language, "r"))


def test_bytes_that_are_no_text_are_harmless() -> None:
    """A file need not be UTF-8."""
    for language in sorted(minable_languages()):
        assert_inside(SourceFile("f", b"\xff\xfe# \x80 a\n/** \xc3 */\ndef f(): pass\n", language, "r"))


def test_most_grammars_know_comments() -> None:
    """What has no comments is data, prose or a grammar for parts of files."""
    without = {language for language in known_languages() if not has_comments(language)}
    assert without == set(
        "comment csv doxygen gosum gstlaunch jsdoc luap markdown markdown_inline printf psv test tsv pgn".split()
    )
