"""Queries from comments inside bodies."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.sources import walk
from chunkers.types import SourceFile
from ground_truth.miners.comment_blocks import commented_blocks
from ground_truth.miners.comment_text import comment_query, no_description
from ground_truth.miners.comments import MAX_LINES, hidden_comments, mine_comments
from ground_truth.miners.rows import mined_rows

SOURCE = textwrap.dedent(
    """\
    import os

    # Load every plugin from the folder of plugins.
    PLUGINS = []


    def load(folder, strict):
        # Collect the names of all readable plugin files,
        # hidden ones excepted.
        names = []
        for name in sorted(os.listdir(folder)):
            if not name.startswith("."):

                names.append(name)  # sorted already
        # Drop plugins that were disabled by the user.
        names = [name for name in names if name != strict]
        total = len(names)

        # TODO: remove the oldest entries from the cache
        cache = {}
        cache["a"] = 1

        # noqa: this is a directive for a linter
        x = 1
        y = 2

        # names = [name for name in names if strict]
        z = 3
        w = 4

        # Sort names
        names.sort()
        names.reverse()

        # Convert the result to a tuple of unique strings.
        return tuple(names)
    """
)


def test_python_queries_their_gold_and_what_is_hidden(tmp_path: Path) -> None:
    """The comment asks; up to a blank line at its depth, the next comment or the block's end is the answer."""
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "m.py").write_text(SOURCE.split("\n\n\n")[1])
    mined = mine_comments(walk(tmp_path, name="r"))
    assert [(query.text, query.kind, query.repo) for query in mined.queries] == [
        ("Collect the names of all readable plugin files, hidden ones excepted.", "comments", "r"),
        ("Drop plugins that were disabled by the user.", "comments", "r"),
    ]
    assert [(note.path, note.start_line, note.end_line) for note in mined.annotations] == [
        ("m.py", 10, 14),
        ("m.py", 16, 17),
    ]
    assert mined.dropped == {
        "test file": 7,
        "outside a body": 1,
        "to do or fix me": 1,
        "directive": 1,
        "commented-out code": 1,
        "too short": 1,
        "introduces a single line": 1,
    }
    data = (tmp_path / "m.py").read_bytes()
    hidden = [data[span.start_byte : span.end_byte] for span in mined.hidden if span.path == "m.py"]
    assert [text.split(b"\n")[0] for text in hidden] == [
        b"# Collect the names of all readable plugin files,",
        b"# Drop plugins that were disabled by the user.",
        b"# Convert the result to a tuple of unique strings.",
    ]
    assert hidden[0].endswith(b"# hidden ones excepted.")


def test_what_is_hidden_depends_on_neither_cap_nor_seed(tmp_path: Path) -> None:
    """The corpus of a draw is the corpus of every other."""
    (tmp_path / "m.py").write_text(SOURCE)
    folder = walk(tmp_path, name="r")
    assert len({mine_comments(folder, limit=limit, seed=seed).hidden for limit in (1, 5) for seed in range(3)}) == 1
    source = folder.read("m.py")
    assert source is not None
    assert hidden_comments(source) == mine_comments(folder).hidden


def test_ids_stay_when_lines_move(tmp_path: Path) -> None:
    """A line above changes the gold and no id."""
    (tmp_path / "m.py").write_text(SOURCE)
    before = mine_comments(walk(tmp_path, name="r"))
    (tmp_path / "m.py").write_text("\n\n\n" + SOURCE)
    after = mine_comments(walk(tmp_path, name="r"))
    assert [query.id for query in before.queries] == [query.id for query in after.queries]
    assert [note.start_line + 3 for note in before.annotations] == [note.start_line for note in after.annotations]


@pytest.mark.parametrize(
    ("comment", "query"),
    [
        ("First, compute the mean of all columns.", "Compute the mean of all columns."),
        ("Step 2: merge the sorted halves:", "Merge the sorted halves"),
        ("1. Read the header of the file", "Read the header of the file"),
        ("CHECK 2: the header was read before", "The header was read before"),
        ("Build the :class:`Tree` from ``rows``. Then sort.", "Build the Tree from rows. Then sort."),
    ],
)
def test_lead_ins_and_markup_are_gone(comment: str, query: str) -> None:
    """Numbers, steps and trailing colons say nothing."""
    assert comment_query(comment) == query


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("Compute the weighted mean of every column", ""),
        ("If the cache holds an older entry, replace it with the new response", ""),
        ("We skip hidden folders and symbolic links", ""),
        ("Recompute the checksum of the archive header", ""),
        ("TODO: compute the weighted mean of every column", "to do or fix me"),
        ("Compute the weighted mean of every column. @todo Sort them?", "to do or fix me"),
        ("eslint-disable-next-line no-console for the whole block", "directive"),
        ("pylint: disable=too-many-branches because of many rules", "directive"),
        ("Copyright 2020 the authors of this fine program", "licence"),
        ("---------------- compute the weighted mean ---------", "section ruler"),
        ("result = compute(values, weights)", "commented-out code"),
        ("if (a > b) {\n  return compute(a);\n}", "commented-out code"),
        ("Compute the mean", "too short"),
        ("Compute the weighted mean, see https://example.org for more", "refers to an issue or page"),
        ("This is needed because of the older interpreter", "not a description"),
        ("Currently the parser only permits one bound", "not a description"),
        ("Make it work with the older interpreter versions", "not a description"),
        ("Compute the same weights and rows as above", "needs its surroundings"),
        ("Check if we should do so", "says too little"),
        ("Layouts. Each produces one kind of junction", "not a description"),
        ("Parse context - parent element, this one, or null", "not a description"),
        ("put isn't an operator, but it can be replaced by one", "not a description"),
        ("We got a message that is not the body of a response", "not a description"),
        ("Skip means that an error was handled elsewhere", "not a description"),
        ("Order matters! Longer strings of the table first", "not a description"),
        ("Follow pages. Every next link holds the query of the first", ""),
        ("Clip boxes are both empty but do not intersect", "not a description"),
        ("Queue validation requires an engine and configuration", "not a description"),
        ("Ensure types are equal in both of the tables", ""),
        ("dragonbox only works for floats and doubles", "not a description"),
    ],
)
def test_only_full_descriptions_are_asked(comment: str, reason: str) -> None:
    """Everything else that comments hold has a reason."""
    assert no_description(comment, comment_query(comment)) == reason


def test_a_long_block_is_not_an_answer(tmp_path: Path) -> None:
    """What introduces more than a screen of statements introduces no one place."""
    body = "".join(f"    v{n} = {n}\n" for n in range(MAX_LINES + 1))
    (tmp_path / "m.py").write_text("def f():\n    # Define all variables of the large simulation.\n" + body)
    assert mine_comments(walk(tmp_path)).dropped == {"introduces too many lines": 1}


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(["def f():", "# Compute the mean value now.", "x = 1", "if x:", "", "'''", "else:"]),
        max_size=12,
    ),
    st.data(),
)
def test_whatever_the_file_holds_places_lie_inside_it(lines: list[str], data: st.DataObject) -> None:
    """Gold lines and comments lie inside the file; the gold begins below its comment."""
    text = "\n".join("    " * data.draw(st.integers(0, 2)) + line for line in lines).encode()
    for found in commented_blocks(text, "python"):
        assert text[found.comment.start_byte : found.comment.end_byte].startswith(b"#")
        assert not text[found.comment.start_byte : found.comment.end_byte].endswith(b"\n")
        if found.lines:
            below = text[: found.comment.end_byte].count(b"\n") + 2
            assert below == found.lines.first <= found.lines.last <= text.count(b"\n") + 1


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        ("scala", "  def f =\n    // c\n    g(1)\n    h(2)\n\n  // d\n  def i =\n    2\n", [(3, 4), None]),
        ("c", "void f() {\n  /* c */\n  /* d */\n  g();\n  h();\n}\n", [None, (4, 5)]),
        ("c", "void f() {\n  /* c */\n  int i;\n  int n = 0;\n\n  g(n);\n  h();\n\n  k();\n}\n", [(3, 7)]),
        ("c", "void f() {\n  /* c */\n  int i = g();\n  int n = 0;\n\n  h(n);\n}\n", [(3, 4)]),
        ("go", "func f() {\n\t// c\n\t// d\n\tg()\n\th()\n}\n", [(4, 5)]),
        ("elixir", "defmodule A do\n  # c\n  def f do\n    # d\n    g()\n    h()\n  end\nend\n", [None, (5, 6)]),
        ("zig", "fn f() void {\n    g(.{\n        // c\n        .a = 1,\n        .b = 2,\n    });\n}\n", [None]),
    ],
)
def test_what_a_comment_introduces(language: str, text: str, lines: list[tuple[int, int] | None]) -> None:
    """Statements up to the next comment; block comments are each their own; a part of an expression is none."""
    assert [found.lines for found in commented_blocks(text.encode(), language)] == lines


def test_the_language_of_a_row_is_that_of_the_content(tmp_path: Path) -> None:
    """A script without an extension, and a header of C++, are known by what they hold."""
    body = "# Collect the names of all readable plugin files\nnames=1\nexport names\n"
    (tmp_path / "tool").write_text(f"#!/bin/bash\nf() {{\n{body}}}\n", "utf-8")
    mined, _ = mined_rows(tmp_path, ["comments"], limit=9, seed=0, max_files=1)
    assert [row.language for row in mined] == ["bash"]


def test_no_language_is_no_comment() -> None:
    """A file without a grammar hides nothing."""
    assert hidden_comments(SourceFile("f", b"# Compute the mean value now.\n")) == ()
