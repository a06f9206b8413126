"""ContextBench's gold context in each of its forms: files, lines and the text that was marked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ground_truth.datasets.contextbench import marked_lines
from ground_truth.jsonl import Record

ROWS = [
    {"file": "a.py", "start_line": 1, "end_line": 2, "content": "x = 1\ny = 2"},
    {"path": "b/c.py", "start_line": 7, "end_line": 7},
    {"file": "d.py", "start_line": 3, "end_line": 4, "content": 5},
]
EXPECTED = [("a.py", 1, 2, "x = 1\ny = 2"), ("b/c.py", 7, 7, None), ("d.py", 3, 4, None)]
TEXT = (
    "context0:\nfile: a.py\nstart_line: 1\nend_line: 2\nx = 1\n\n"
    "context1\uff1a\nfile: b.py \nstart_line: 5\nend_line: 9\ny\n"
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ROWS, EXPECTED),
        (json.dumps(ROWS), EXPECTED),
        (TEXT, [("a.py", 1, 2, "x = 1"), ("b.py", 5, 9, "y")]),
    ],
)
def test_every_form_says_file_lines_and_text(value: Any, expected: list[tuple[Any, ...]]) -> None:
    """A list, the same as text, or blocks; what is no text is not taken for one."""
    assert [tuple(each) for each in marked_lines(Record("row 1", {"gold_context": value}))] == expected
