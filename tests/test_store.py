"""The store: entries are whole, checked and shared."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from evaluation.experiment.store import StageKey, Store

KEY = StageKey("chunk", {"corpus": "abc", "chunker": {"size": 3}})


def write_value(folder: Path) -> None:
    """Write one file."""
    (folder / "value.txt").write_text("seven")


def read_value(folder: Path) -> str:
    """Read it back."""
    return (folder / "value.txt").read_text()


def test_what_is_put_is_got(tmp_path: Path) -> None:
    """An entry comes back as it was written, and an absent one is None."""
    store = Store(tmp_path)
    assert store.get(KEY, read_value) is None
    store.put(KEY, write_value)
    assert store.has(KEY)
    assert store.get(KEY, read_value) == "seven"


def test_the_key_depends_on_every_input() -> None:
    """Another value of any input, and another stage, is another entry; the order of keys does not matter."""
    same = StageKey("chunk", {"chunker": {"size": 3}, "corpus": "abc"})
    assert same.digest == KEY.digest
    assert StageKey("chunk", {"corpus": "abc", "chunker": {"size": 4}}).digest != KEY.digest
    assert StageKey("score", KEY.inputs).digest != KEY.digest


def test_a_damaged_entry_is_dropped_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file changed behind the store's back is noticed, and the entry is made again."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    (store.folder(KEY) / "value.txt").write_text("eight")
    assert store.get(KEY, read_value) is None
    assert "damaged" in caplog.text
    assert not store.has(KEY)


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """An entry is there whole or not at all."""

    def full_disk(folder: Path) -> None:
        write_value(folder)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = Store(tmp_path)
    with pytest.raises(UsageError, match="No space left"):
        store.put(KEY, full_disk)
    assert not store.has(KEY)
    assert list((tmp_path / "chunk").iterdir()) == []


def test_the_second_writer_of_an_entry_changes_nothing(tmp_path: Path) -> None:
    """Two processes that finish the same work agree on the first one's entry."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    store.put(KEY, write_value)
    assert store.get(KEY, read_value) == "seven"
    assert len(list((tmp_path / "chunk").iterdir())) == 1


def test_what_a_killed_run_left_is_removed_after_a_day(tmp_path: Path) -> None:
    """An old draft goes; one that may still be written to, and finished entries, stay."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    old, new = tmp_path / "chunk" / ".draft-old", tmp_path / "chunk" / ".draft-new"
    for draft in (old, new):
        draft.mkdir()
    os.utime(old, (1, 1))
    store.sweep()
    assert (old.exists(), new.exists()) == (False, True)
    assert store.get(KEY, read_value) == "seven"
