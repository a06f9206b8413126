"""Files that are replaced whole, and what a killed writer leaves."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.atomic import replace_lines, replace_text


def test_the_draft_of_a_killed_writer_is_removed_by_the_next(tmp_path: Path) -> None:
    """Of the same file only; a file that merely looks like a draft stays, and so does the old text until then."""
    file, other = replace_text(tmp_path / "a.md", "old"), tmp_path / ".draft-notes"
    other.write_text("mine")

    def dying() -> Iterator[str]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield ""

    child = os.fork()
    if not child:
        replace_lines(file, dying())
    os.waitpid(child, 0)
    assert file.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3
    replace_text(file, "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "new", ".draft-notes": "mine"}


def test_the_draft_of_a_living_writer_stays(tmp_path: Path) -> None:
    """Two write one file at a time: each succeeds, and the one that ends last is read."""
    file = tmp_path / "a.md"
    replace_lines(file, (replace_text(file, "inner").read_text() + "+outer" for _ in range(1)))
    assert file.read_text() == "inner+outer"
    assert list(tmp_path.iterdir()) == [file]


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """The old text stays, without a draft beside it."""
    file = replace_text(tmp_path / "a.md", "old")
    with pytest.raises(ZeroDivisionError):
        replace_lines(file, (str(1 // 0) for _ in range(1)))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
