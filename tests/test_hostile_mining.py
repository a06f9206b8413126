"""Files that make a miner search for hours: what is read of them is bounded, and nothing else is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_git_canaries import git, history

from chunkers.captures import captures
from chunkers.language_content import AMBIGUOUS, language_of_content
from chunkers.languages import grammar, syntax_tree
from chunkers.types import SourceFile
from ground_truth.git import list_tree
from ground_truth.miners.comments import comments_of
from ground_truth.miners.commits import mine_commits
from ground_truth.miners.docstrings import docstrings_of

SENTENCE = "Return the sum of the values in all lists"
CALLS = "x();\ny();\n"
FUNCTION = "function f(a) {\n  x();\n  y();\n  return z(a);\n}\n"


@contextmanager
def within_seconds() -> Iterator[None]:
    """Fail if the block takes 10 s of processor time; most of the inputs here took hours."""
    began = time.process_time()
    yield
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "body",
    [
        "if (a) {}" + f" else if (b) {{\n// {SENTENCE}.\n{CALLS}}}" * 3_000,
        f"// {SENTENCE}.\nif (a) {{\n{CALLS}" * 3_000 + "}\n" * 3_000,
        "x = a\n" + f"// {SENTENCE}.\n+ b\n" * 5_000,
        f"// {' ' * 300_000}x\n{CALLS}",
        f"// {SENTENCE}.\n" + "//\n// .\n" * 5_000 + CALLS,
    ],
    ids=["branches", "blocks", "operators", "spaces", "lines"],
)
def test_comments_of_a_hostile_function(body: str) -> None:
    """Deep nesting took the cube of its depth, and a long comment the square or the cube of its length."""
    source = SourceFile("a.js", f"function f() {{\n{body}\n}}\n".encode(), "javascript")
    with within_seconds():
        comments_of(source)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", f"/{'*' * 300_000}/\n{FUNCTION}"),
        ("javascript", f"/**\n * {SENTENCE}.\n * a {'-' * 300_000}x\n */\n{FUNCTION}"),
        ("javascript", f"/** {SENTENCE} {'{@a ' * 100_000} */\n{FUNCTION}"),
        ("haskell", f"-- | {SENTENCE} {'<http://' * 50_000}\nf :: Int\nf =\n  g\n  h\n  i\n"),
        ("elixir", "defmodule A do\n" + f'@doc "{SENTENCE}"\n' * 10_000 + "def f do\n  x\n  y\n  z\nend\nend\n"),
    ],
    ids=["stars", "ruler", "tags", "links", "attributes"],
)
def test_documentation_of_a_hostile_file(language: str, text: str) -> None:
    """Patterns took the square of a text's length, and each of many attributes all that follow it."""
    source = SourceFile("a", text.encode(), language)
    with within_seconds():
        docstrings_of(source)


def test_answers_inside_many_others_are_not_asked() -> None:
    """Functions inside sixteen others are counted: their lines, together, were the square of the file's."""
    text = f"/** {SENTENCE}. */\nfunction f() {{\n{CALLS}z();\n" * 20 + "}\n" * 20
    reasons = [found.reason for found in docstrings_of(SourceFile("a.js", text.encode(), "javascript")).found]
    assert reasons.count("nested too deeply") == 4
    assert set(reasons[:16]) == {""}


def test_a_tree_that_takes_too_long_to_search_is_read_without() -> None:
    """A search looks for the next name behind each bracket; a megabyte of them took seven minutes."""
    from tree_sitter import Query

    query = Query(grammar("javascript"), "(comment) @comment")
    tree = syntax_tree("javascript", b"// c\n" + b"[" * 30_000)
    assert tree is not None
    assert captures(query, tree.root_node, seconds=0.02) == {}
    assert len(captures(query, tree.root_node, seconds=60)["comment"]) == 1


@pytest.mark.parametrize("extension", sorted(AMBIGUOUS))
@pytest.mark.parametrize("unit", [b"\n", b"a(\n", b"//%{"])
def test_the_language_of_empty_lines(extension: str, unit: bytes) -> None:
    """A file of 64 kB of line feeds took up to a minute before it was known to be nothing."""
    with within_seconds():
        language_of_content(unit * (65_536 // len(unit)), extension)


def test_blanks_in_history_and_configuration(tmp_path: Path) -> None:
    """A message of spaces and a configuration of empty lines took the square of their length."""
    history(tmp_path / "work")
    blanks = " " * 60_000
    git(tmp_path / "work", "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", f"Add{blanks}x\n\nb{blanks}x")
    with (tmp_path / "work" / ".git" / "config").open("a") as config:
        config.write("\n" * 1_000_000)
    with within_seconds():
        assert list_tree(tmp_path / "work", git(tmp_path / "work", "rev-parse", "HEAD").strip())
        mine_commits(tmp_path / "work", name="work")
