"""Files that stay in memory are the files of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkers.file_facts import fingerprint
from chunkers.sources import walk
from evaluation.experiment import file_memory
from evaluation.experiment.file_memory import FileMemory, MemoryLimit, MemoryRepository


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


def test_the_oldest_contents_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the bound everything stays; beyond it the oldest go; one that is larger than the bound stays alone."""
    monkeypatch.setattr(file_memory, "_BYTES", 10)
    asked: list[str] = []

    def read(name: str) -> bytes:
        asked.append(name)
        return b"x" * len(name)

    memory: FileMemory[str] = FileMemory()
    for name in ("aaaaa", "bbbbb", "aaaaa", "bbbbb"):
        assert memory.read(name, read) == b"xxxxx"
    assert (asked, memory.bytes_kept) == (["aaaaa", "bbbbb"], 10)
    memory.read("c", read)
    assert memory.bytes_kept == 6
    memory.read("aaaaa", read)
    assert asked == ["aaaaa", "bbbbb", "c", "aaaaa"]
    memory.read("d" * 50, read)
    assert memory.bytes_kept == 50
    memory.read("d" * 50, read)
    assert len(asked) == 5


def test_the_limit_is_shared_and_is_what_may_be_kept(tmp_path: Path) -> None:
    """A file of exactly what is left is kept; then nothing else is, and all the same it can be read."""
    for repo, text in (("one", "a = 1\n"), ("two", "bb = 2\n")):
        (tmp_path / repo).mkdir()
        (tmp_path / repo / "a.py").write_text(text)
    limit = MemoryLimit(6)
    one, two = (MemoryRepository(walk(tmp_path / repo), limit) for repo in ("one", "two"))
    first = one.read("a.py")
    assert limit.left == 0
    assert one.read("a.py") is first
    second = two.read("a.py")
    assert second is not None
    assert second.data == b"bb = 2\n"
    assert two.read("a.py") is not second
