"""Files that stay in memory are the files of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkers.sources import fingerprint, walk
from evaluation.experiment.file_memory import MemoryLimit, MemoryRepository


@pytest.mark.parametrize("room", [0, 40, 10_000])
def test_what_is_remembered_is_what_was_read(tmp_path: Path, room: int) -> None:
    """With room for none, some or all of the files, they come in order and unchanged, again and again."""
    for name in ("b.py", "a.py", "c.py"):
        (tmp_path / name).write_text(f'def {name[0]}():\n    """Text of {name}."""\n')
    plain = walk(tmp_path)
    kept = MemoryRepository(plain, MemoryLimit(room))
    once = fingerprint(kept)
    assert once == fingerprint(kept) == fingerprint(plain)
    assert kept.read("a.py") == plain.read("a.py")
    assert kept.read("z.py") is None
    assert kept.name == plain.name


def test_a_file_that_changes_meanwhile_stays_as_it_was_first_read(tmp_path: Path) -> None:
    """A folder that moves during a run does not mix two states: the first reading counts."""
    (tmp_path / "a.py").write_text("one = 1\n")
    kept = MemoryRepository(walk(tmp_path), MemoryLimit())
    before = [source.data for source in kept.files()]
    (tmp_path / "a.py").write_text("two = 2\n")
    assert [source.data for source in kept.files()] == before
