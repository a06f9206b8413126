"""Copies in a corpus: found, and treated as chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkers.errors import UsageError
from chunkers.sources import walk
from ground_truth.duplicates import apply_duplicates, find_copies
from ground_truth.types import Annotation, Dataset, Query

BODY = "".join(f"value_{number} = {number}\n" for number in range(40))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Return a repository with a file, its copy, a near copy and another file; the gold is in the copy."""
    for name, text in {
        "a.py": BODY, "lib/b.py": BODY, "c.py": BODY.replace("value_3 = 3", "value_3 = 4"), "d.py": "x = 1\n" * 50,
        "e.py": "", "f.py": "",
    }.items():  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    notes = (Annotation("q", "r", "lib/b.py", 2, 3), Annotation("q", "r", "d.py", 1, 1))
    return Dataset("d", (walk(tmp_path, name="r"),), (Query("q", "t", "r"),), notes)


def test_identical_and_near_identical_files_are_told_apart(dataset: Dataset) -> None:
    """The near copy joins the first of the identical ones; empty files are no copies."""
    copies = find_copies(dataset.repositories[0])
    assert [(group.paths, group.identical) for group in copies] == [
        (("a.py", "lib/b.py"), True),
        (("a.py", "c.py"), False),
    ]


def test_keep_changes_nothing_but_tells(dataset: Dataset) -> None:
    """The details say what was found."""
    kept = apply_duplicates(dataset, "keep")
    assert kept.annotations == dataset.annotations
    assert kept.details["duplicates"]["identical_files"] == 2
    assert kept.details["duplicates"]["near_identical_files"] == 2


def test_first_leaves_one_copy_and_moves_the_gold_there(dataset: Dataset) -> None:
    """The corpus loses the later copy; its annotation is of the first."""
    first = apply_duplicates(dataset, "first")
    assert "lib/b.py" not in [source.path for source in first.repositories[0].files()]
    assert first.repositories[0].read("lib/b.py") is None
    assert ("lib/b.py", "copy of another file") in first.repositories[0].skipped
    assert [note.path for note in first.annotations] == ["a.py", "d.py"]


def test_equal_makes_copies_of_gold_gold(dataset: Dataset) -> None:
    """Every copy has the annotation."""
    equal = apply_duplicates(dataset, "equal")
    assert sorted((note.path, note.start_line) for note in equal.annotations) == [
        ("a.py", 2),
        ("d.py", 1),
        ("lib/b.py", 2),
    ]


def test_another_policy_is_refused(dataset: Dataset) -> None:
    """The error lists the three."""
    with pytest.raises(UsageError, match="keep, first, equal"):
        apply_duplicates(dataset, "drop")
