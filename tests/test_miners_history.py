"""Commits that ask and those that do not, functions by position, lines of files and counts of what was mined."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_datasets_from_clones import git

from chunkers.errors import UsageError
from ground_truth.lines import FileLines
from ground_truth.miners.commits import MAX_CHANGED_LINES, mine_commits
from ground_truth.miners.types import LanguageShare, Mined
from ground_truth.python_functions import function_at, functions_of
from ground_truth.questions import read_questions
from ground_truth.types import Query

BODY = [f"value_{number} = {number}" for number in range(MAX_CHANGED_LINES + 50)]


class History:
    """A repository that grows by one commit at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        git(folder, "init", "-q", "-b", "main")
        self.write({"a.py": BODY, "b.py": BODY})
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "first")

    def write(self, files: dict[str, list[str]]) -> None:
        """Write files of these lines."""
        for name, lines in files.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text("\n".join(lines) + "\n")

    def reason(self, message: str, files: dict[str, list[str]], *, max_files: int = 5) -> str:
        """Commit and say why that makes no query; nothing where it does. The commit is taken back."""
        self.write(files)
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "--allow-empty", "-m", message)
        mined = mine_commits(self.folder, name="r", max_files=max_files)
        git(self.folder, "reset", "-q", "--hard", "HEAD~1")
        reasons = dict(mined.dropped)
        assert reasons.pop("first commit") == 1
        assert len(reasons) + len(mined.queries) == 1
        return next(iter(reasons), "")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Return a repository with one commit."""
    return History(tmp_path_factory.mktemp("history"))


def changed(count: int) -> list[str]:
    """Return the file with its first lines changed."""
    return [f"{line} + 1" for line in BODY[:count]] + BODY[count:]


ASK = "Keep sorted values in order"


@pytest.mark.parametrize(
    ("message", "files", "reason"),
    [
        (ASK, {"a.py": changed(1)}, ""),
        (ASK, {"a.py": changed(MAX_CHANGED_LINES)}, ""),
        (ASK, {"a.py": changed(MAX_CHANGED_LINES + 1)}, "too many lines"),
        (ASK, {"new.py": BODY}, "only new files, whitespace or binary changes"),
        (ASK, {"a.py": [f"{line}  " for line in BODY]}, "changes whitespace only"),
        (ASK, {"test_a.py": BODY, "a.py": changed(1)}, ""),
        ("Keep it sorted", {"a.py": changed(1)}, "message too short"),
        ("Fix it and add the tests", {"a.py": changed(1)}, "message says too little"),
        ("Release of the sorted values now", {"a.py": changed(1)}, "release, revert or chore"),
        ("Reformat all of the sorted values", {"a.py": changed(1)}, "formatting or documentation"),
    ],
)
def test_each_commit_asks_or_has_a_reason(
    history: History, message: str, files: dict[str, list[str]], reason: str
) -> None:
    """Up to two hundred changed lines of source, by a message of four words of which two say something."""
    assert history.reason(message, files) == reason


def test_a_commit_of_too_many_files_asks_nothing(history: History) -> None:
    """As many as allowed are not too many; four times as many of any kind may be touched."""
    both = {"a.py": changed(1), "b.py": changed(1)}
    assert history.reason(ASK, both, max_files=2) == ""
    assert history.reason(ASK, both, max_files=1) == "too many files"
    extra = {f"note{number}.txt": ["x"] for number in range(3)}
    assert history.reason(ASK, {"a.py": changed(1), **extra}, max_files=1) == ""
    assert history.reason(ASK, {"a.py": changed(1), **extra, "more.txt": ["x"]}, max_files=1) == "too many files"


SOURCE = b"""import os


@wraps
def outer(first,
          second):
    '''Reads.'''

    def inner():
        return 1

    return inner


class A:
    def outer(self): return 2
"""


def test_functions_are_found_by_line_and_name() -> None:
    """With their decorators; the innermost of the name that holds the line below its first one."""
    found = functions_of(SOURCE)
    assert [(one.name, tuple(one.lines), tuple(one.signature_lines), one.doc) for one in found] == [
        ("outer", (4, 12), (5, 6), "Reads."),
        ("inner", (9, 10), (9, 9), ""),
        ("outer", (16, 16), (16, 16), ""),
    ]
    assert found[0].signature == "def outer(first, second):"
    for line, name, expected in (
        (5, "outer", None),
        (6, "outer", 0),
        (12, "outer", 0),
        (13, "outer", None),
        (9, "inner", None),
        (10, "inner", 1),
        (11, "inner", None),
        (16, "outer", None),
        (10, "other", None),
    ):
        assert function_at(found, line, name=name) == (None if expected is None else found[expected])


@given(st.lists(st.sampled_from([b"a", b" ", b"\n", b"\t", b"\r", "é".encode()]), max_size=14), st.data())
def test_lines_of_a_file_are_those_between_line_feeds(signs: list[bytes], data: st.DataObject) -> None:
    """Where each begins, which have text, and which of them a span of bytes holds text of."""
    whole = b"".join(signs)
    rows = whole.split(b"\n")
    rows = rows[:-1] if rows[-1] == b"" else rows
    lines = FileLines.of(whole)
    starts = [sum(len(row) + 1 for row in rows[:number]) for number in range(len(rows))]
    assert (lines.count, lines.starts.tolist()) == (len(rows), starts)
    assert lines.has_text.tolist() == [bool(row.strip()) for row in rows]
    for first in range(1, len(rows) + 1):
        for last in range(first, len(rows) + 1):
            begin, end = lines.to_bytes(first, last)
            assert whole[begin:end].rstrip(b"\n").split(b"\n")[0] == rows[first - 1] or not rows[first - 1]
            assert (begin, end) == (starts[first - 1], starts[last] if last < len(rows) else len(whole))
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    first_line, last_line = lines.text_lines(np.array([start]), np.array([end]))
    held = []
    for number, (begin, row) in enumerate(zip(starts, rows, strict=True), 1):
        visible = [begin + at for at, byte in enumerate(row) if byte not in b" \t\r" and byte & 0xC0 != 0x80]
        if visible and max(start, visible[0]) < min(end, visible[-1] + 1):
            held.append(number)
    if held:
        assert (first_line[0], last_line[0]) == (held[0], held[-1])
    else:
        assert first_line[0] > last_line[0] or start == end


def test_what_was_mined_is_told_in_one_line() -> None:
    """The most frequent reason first; languages with a query or a hundredth of the code."""
    shares = {"python": LanguageShare(900, 5, 2), "go": LanguageShare(10, 0, 0), "c": LanguageShare(9, 0, 0)}
    shares |= {"lua": LanguageShare(81, 0, 0), "zig": LanguageShare(0, 1, 1)}
    queries = (Query("1", "q", "r"), Query("2", "q", "r"))
    mined = Mined(queries, (), Counter({"too short": 3, "merge": 1_200, "bot": 3}), languages=shares)
    assert mined.summary() == (
        "2 queries kept; dropped: 1,200 merge, 3 bot, 3 too short; python 90% of the code and 2 queries, "
        "go 1% of the code and 0 queries, lua 8% of the code and 0 queries, zig 0% of the code and 1 queries"
    )
    told = mined.counts()
    assert told["dropped"] == {"bot": 3, "merge": 1200, "too short": 3}
    assert told["languages"]["lua"] == {"code_share": 0.081, "queries": 0}
    assert Mined((), ()).summary() == "0 queries kept; dropped: none"
    assert Mined((), ()).counts() == {"kept": 0, "dropped": {}}


def test_questions_are_read_by_line_or_as_json(tmp_path: Path) -> None:
    """Blank lines and remarks do not count and number the others; ids have no spaces and mean one question."""
    plain = tmp_path / "questions.txt"
    plain.write_text("# remark\n\n  where is it? \n #x\nwhy?\n")
    assert [tuple(asked) for asked in read_questions(plain)] == [("q3", "where is it?"), ("q5", "why?")]
    rows = tmp_path / "questions.jsonl"
    rows.write_text('{"query": " a "}\n{"query": "b", "query_id": "x"}\n{"query": "b", "query_id": "x"}\n')
    assert [tuple(asked) for asked in read_questions(rows)] == [("q1", "a"), ("x", "b")]
    for row, told in (
        ('{"query": "c", "query_id": "q1"}\n{"query": "d", "query_id": "q1"}', "the id of two questions"),
        ('{"query": " "}', "query is empty"),
        ('{"query": "a", "query_id": "x y"}', "without spaces"),
        ('{"query": "a", "query_id": " x"}', "without spaces"),
        ('{"query": "a", "query_id": ""}', "without spaces"),
    ):
        rows.write_text(row + "\n")
        with pytest.raises(UsageError, match=told):
            read_questions(rows)
    plain.write_text("# nothing\n")
    with pytest.raises(UsageError, match="has no questions"):
        read_questions(plain)
