"""Packs of records: found by key whoever wrote them, merged when they are small, and pruned record by record."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.sizes import Ruler
from chunkers.types import SourceFile
from evaluation.experiment import packs as packs_module
from evaluation.experiment.file_tokens import record_of, ruler_of
from evaluation.experiment.pack_upkeep import prune_records
from evaluation.experiment.pack_use import DAY, days_used, note_use, write_days
from evaluation.experiment.packs import Pack, Packs, file_key, is_pack, read_pack
from evaluation.experiment.store import StageKey, Store

LONG_AGO = 1_000 * DAY


def key(number: int) -> bytes:
    """Return a key; they are in the order of their numbers."""
    return bytes([number]) * 16


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty store."""
    return Store(tmp_path / "stages")


def packs_of(store: Store) -> Packs:
    """Return the packs as another process opens them."""
    return Packs(store, "kind", {"by": 1})


def folders(store: Store) -> list[Path]:
    """Return the entries."""
    return [folder for folder in store.folders() if is_pack(folder)]


def sizes(store: Store) -> list[int]:
    """Return the bytes of records of every entry, ascending."""
    return sorted(read_pack(folder).size for folder in folders(store))


def aged(store: Store, days: Mapping[bytes, int]) -> None:
    """Let the records of every entry have been used last on these days; the entries themselves just now."""
    for folder in folders(store):
        (folder / ".used").unlink(missing_ok=True)
        keys = read_pack(folder).keys.tolist()
        write_days(folder, np.array([days[bytes(each)] for each in keys]))
        os.utime(folder / "manifest.json", (LONG_AGO, LONG_AGO))
        os.utime(folder)


def test_a_pack_has_its_records_by_place(store: Store) -> None:
    """The first, the last and an empty one in between; the size is that of all of them."""
    packs_of(store).add({key(1): b"one", key(2): b"", key(3): b"three"})
    pack = read_pack(*folders(store))
    assert [pack.record(place) for place in range(3)] == [b"one", b"", b"three"]
    assert (pack.size, pack.keys.tolist()) == (8, [key(1), key(2), key(3)])
    assert Pack(Path(), np.zeros(0, "S16"), np.zeros(0, np.int64), b"").size == 0


def test_packs_of_nothing_but_empty_records_are_read(store: Store) -> None:
    """A file of no bytes cannot be mapped into memory."""
    packs_of(store).add({key(1): b"", key(2): b""})
    assert packs_of(store).find([key(1), key(2), key(3)]) == {key(1): b"", key(2): b""}


def test_records_of_several_entries_are_found_together(store: Store) -> None:
    """Keys before, between and behind those of each entry; nothing is found for nothing, and nothing is added of it."""
    writer = packs_of(store)
    writer.add({})
    assert writer.entries() == ()
    writer.add({key(2): b"two", key(6): b"six"})
    writer.add({key(4): b"four"})
    assert len(packs_of(store).entries()) == 2
    found = packs_of(store).find([key(number) for number in range(1, 9)])
    assert found == {key(2): b"two", key(4): b"four", key(6): b"six"}
    assert packs_of(store).find([]) == {}


def test_an_entry_without_records_is_no_hindrance(store: Store) -> None:
    """Nothing is found in it, and the others are looked into."""
    packs_of(store).add({key(2): b"two"})
    (folder,) = folders(store)

    def write(draft: Path) -> None:
        np.save(draft / "keys.npy", np.zeros(0, "S16"))
        np.save(draft / "ends.npy", np.zeros(0, np.int64))
        (draft / "records.bin").write_bytes(b"")

    store.put(StageKey(folder.parent.name, {"by": 1, "files": "none"}), write)
    assert len(folders(store)) == 2
    assert packs_of(store).find([key(1), key(2), key(3)]) == {key(2): b"two"}
    assert len(folders(store)) == 2


def test_what_is_added_is_found_before_and_after_the_first_look(store: Store) -> None:
    """By the same object, in either order."""
    early = packs_of(store)
    early.add({key(1): b"one"})
    assert early.find([key(1)]) == {key(1): b"one"}
    early.add({key(2): b"two"})
    assert early.find([key(1), key(2)]) == {key(1): b"one", key(2): b"two"}


def test_what_others_add_is_found_after_another_look(store: Store) -> None:
    """Not before: what was there at the first look is what counts until then; it stays found."""
    reader = packs_of(store)
    packs_of(store).add({key(1): b"one"})
    assert reader.find([key(1)]) == {key(1): b"one"}
    packs_of(store).add({key(2): b"two"})
    assert reader.find([key(1), key(2)]) == {key(1): b"one"}
    reader.reopen()
    assert reader.find([key(1), key(2)]) == {key(1): b"one", key(2): b"two"}
    assert pickle.loads(pickle.dumps(reader)).find([key(2)]) == {key(2): b"two"}  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([5], [5]),
        ([3, 4], [7]),
        ([3, 4, 10], [17]),
        ([3, 4, 11], [7, 11]),
        ([6, 6, 12], [24]),
        ([6, 6, 13], [12, 13]),
        ([10, 10, 20, 20, 40], [100]),
        ([10, 10, 20, 20, 41], [41, 60]),
        ([50, 60], [50, 60]),
        ([12, 13, 14], [39]),
        ([30] * 7, [30, 90, 90]),
        ([11, 40, 90, 90], [11, 40, 90, 90]),
    ],
)
def test_small_entries_become_one_and_large_ones_stay(
    store: Store, monkeypatch: pytest.MonkeyPatch, before: list[int], after: list[int]
) -> None:
    """Up to 10 bytes always, beyond that what is no larger than all smaller ones together, and at most 100 at once."""
    monkeypatch.setattr(packs_module, "_SMALL", 10)
    monkeypatch.setattr(packs_module, "_LARGEST", 100)
    records = {key(number): b"x" * size for number, size in enumerate(before)}
    writer = packs_of(store)
    for name, record in records.items():
        writer.add({name: record})
    writer.merge()
    assert sizes(store) == after
    assert writer.find(list(records)) == packs_of(store).find(list(records)) == records


def test_an_entry_that_holds_all_the_others_is_what_becomes_of_them(store: Store) -> None:
    """It is not written over, nor removed with them."""
    writer = packs_of(store)
    writer.add({key(1): b"one", key(2): b"two"})
    (whole,) = folders(store)
    writer.add({key(1): b"one"})
    writer.merge()
    assert folders(store) == [whole]
    assert packs_of(store).find([key(1), key(2)]) == {key(1): b"one", key(2): b"two"}


class Shared(Store):
    """A store of which another process removes what is made to last."""

    def put(self, key: StageKey, write: Callable[[Path], None], *, lasting: bool = True) -> None:
        """Write the entry, which soon has gone."""
        super().put(key, write, lasting=lasting)
        if lasting:
            self.drop(key)


def test_nothing_is_lost_where_another_process_removes_what_was_merged(tmp_path: Path) -> None:
    """The entries that it was made of stay."""
    shared = Shared(tmp_path)
    writer = packs_of(shared)
    writer.add({key(1): b"one"})
    writer.add({key(2): b"two"})
    writer.merge()
    assert packs_of(shared).find([key(1), key(2)]) == {key(1): b"one", key(2): b"two"}


def test_an_entry_that_nobody_joins_is_left_as_it_is(store: Store) -> None:
    """One entry is not written again, however often it is merged."""
    writer = packs_of(store)
    writer.add({key(1): b"one"})
    (folder,) = folders(store)
    written = (folder / "manifest.json").stat().st_mtime_ns
    writer.merge()
    assert folders(store) == [folder]
    assert (folder / "manifest.json").stat().st_mtime_ns == written


def test_a_merged_record_was_used_when_it_was_used_last(store: Store) -> None:
    """One that is in two entries has the later day, whichever of them is the later entry."""
    for days in ((1_200, 1_100), (1_100, 1_200)):
        writer = packs_of(store)
        writer.add({key(1): b"a", key(2): b"bb"})
        writer.add({key(1): b"a", key(3): b"c"})
        for folder, day in zip(sorted(folders(store), key=lambda each: read_pack(each).size), days, strict=True):
            (folder / ".used").unlink(missing_ok=True)
            write_days(folder, np.full(len(read_pack(folder).keys), day))
        writer.merge()
        (merged,) = folders(store)
        assert days_used(merged, 3).tolist() == [1_200, days[1], days[0]]
        store.remove(merged)


def test_two_processes_may_merge_at_once(store: Store) -> None:
    """One that has read the entries before another merged and removed them loses no record and does not fail."""
    first, second = packs_of(store), packs_of(store)
    first.add({key(1): b"a"})
    first.add({key(2): b"bb"})
    read = [read_pack(folder) for folder in folders(store)]
    second.merge()
    first.replace([(pack, range(len(pack.keys))) for pack in read])
    assert packs_of(store).find([key(1), key(2)]) == {key(1): b"a", key(2): b"bb"}
    assert days_used(read[0].folder, 1).tolist() == [int(time.time() // DAY)], "of use just now, for all that is known"


def test_a_pack_that_does_not_fit_together_is_refused(store: Store) -> None:
    """Another kind of key, or another number of ends."""
    packs_of(store).add({key(1): b"one", key(2): b"two"})
    (folder,) = folders(store)
    np.save(folder / "ends.npy", np.array([3], dtype=np.int64))
    with pytest.raises(ValueError, match="do not fit together"):
        read_pack(folder)
    np.save(folder / "ends.npy", np.array([3, 6], dtype=np.int64))
    np.save(folder / "keys.npy", np.array([b"a", b"b"], dtype="S8"))
    with pytest.raises(ValueError, match="do not fit together"):
        read_pack(folder)


def test_a_file_is_named_by_its_path_language_and_content() -> None:
    """Whichever repository it is in: a change of any of the three is another key."""
    source = SourceFile("a.py", b"a = 1\n", "python", "one")
    others = [
        SourceFile("b.py", b"a = 1\n", "python", "one"),
        SourceFile("a.py", b"a = 2\n", "python", "one"),
        SourceFile("a.py", b"a = 1\n", None, "one"),
        SourceFile("a.py\udc80", b"a = 1\n", "python", "one"),
    ]
    assert file_key(source) == file_key(SourceFile("a.py", b"a = 1\n", "python", "two"))
    assert len({file_key(each) for each in [source, *others]}) == 5
    assert {len(file_key(each)) for each in others} == {16}


def test_only_what_was_of_use_counts_as_used(store: Store) -> None:
    """The entry that has a record is touched, the other is not; of its records, the one that was found."""
    writer = packs_of(store)
    writer.add({key(1): b"one", key(2): b"two"})
    writer.add({key(3): b"three"})
    for folder in folders(store):
        os.utime(folder, (LONG_AGO, LONG_AGO))
        os.utime(folder / "manifest.json", (LONG_AGO, LONG_AGO))
    reader = packs_of(store)
    reader.find([key(2), key(9)])
    today = int(time.time() // DAY)
    both, other = sorted(folders(store), key=lambda each: -len(read_pack(each).keys))
    assert both.stat().st_mtime > LONG_AGO == other.stat().st_mtime
    assert days_used(both, 2).tolist() in ([1_000, today], [1_000, today + 1])
    assert days_used(other, 1).tolist() == [1_000]
    os.utime(both, (LONG_AGO, LONG_AGO))
    reader.find([key(1)])
    assert days_used(both, 2).min() >= today
    assert both.stat().st_mtime == LONG_AGO
    assert packs_of(store).find([key(1)])
    assert both.stat().st_mtime > LONG_AGO


def test_the_day_of_a_record_is_its_own(store: Store) -> None:
    """A later note changes its own record, and days that are no pack's are not believed."""
    packs_of(store).add({key(1): b"one", key(2): b"two"})
    (folder,) = folders(store)
    os.utime(folder / "manifest.json", (LONG_AGO + 5, LONG_AGO + 5))
    assert days_used(folder, 2).tolist() == [1_000, 1_000]
    write_days(folder, np.array([0, 1_500]))
    assert days_used(folder, 2).tolist() == [1_000, 1_500]
    write_days(folder, np.array([7, 7]))
    assert days_used(folder, 2).tolist() == [1_000, 1_500]
    note_use(folder, 2, [0])
    first, second = days_used(folder, 2).tolist()
    assert (first >= time.time() // DAY - 1, second) == (True, 1_500)
    (folder / ".used").write_bytes(b"\1\0\0\0")
    assert days_used(folder, 2).tolist() == [1_000, 1_000]


def test_a_prune_takes_the_records_that_were_last_used_before_the_day(store: Store) -> None:
    """One of that very day stays; what has gone is counted in records and in bytes."""
    records = {key(number): b"x" * number for number in range(1, 5)}
    packs_of(store).add(records)
    aged(store, {key(1): 1_099, key(2): 1_100, key(3): 1_098, key(4): 1_101})
    assert prune_records(store, unused_since=1_100 * DAY + 5) == (2, 4)
    assert packs_of(store).find(list(records)) == {key(2): b"xx", key(4): b"xxxx"}
    assert sizes(store) == [6]


def test_a_prune_leaves_alone_what_it_need_not_write(store: Store) -> None:
    """An entry of which all is used, and one that nobody used at all; one that is damaged is dropped."""
    writer = packs_of(store)
    writer.add({key(1): b"one"})
    aged(store, {key(1): 2_000})
    used = set(folders(store))
    writer.add({key(2): b"two", key(3): b"three"})
    (unused,) = set(folders(store)) - used
    write_days(unused, np.array([1_000, 1_000]))
    os.utime(unused, (LONG_AGO, LONG_AGO))
    writer.add({key(4): b"four", key(5): b"five"})
    (damaged,) = set(folders(store)) - used - {unused}
    write_days(damaged, np.array([1_000, 2_000]))
    (damaged / "keys.npy").write_bytes(b"rubbish")
    before = set(folders(store))
    assert prune_records(store, unused_since=1_500 * DAY) == (0, 0)
    assert set(folders(store)) == before - {damaged}
    os.utime(unused, (1_500 * DAY, 1_500 * DAY))
    assert prune_records(store, unused_since=1_500 * DAY) == (2, 8)
    assert set(folders(store)) == used


@given(st.lists(st.integers(0, 70_000), max_size=30))
def test_the_tokens_of_a_file_are_read_as_they_were_counted(starts: list[int]) -> None:
    """Distances of any width, and a file without tokens."""
    counted = Ruler(np.array(sorted(starts), dtype=np.int64))
    assert ruler_of(record_of(counted)).starts.tolist() == sorted(starts)


def test_distances_between_tokens_take_as_few_bytes_as_hold_them() -> None:
    """One byte up to 255, two up to 65,535, four beyond."""
    widths = [len(record_of(Ruler(np.array([3, 3 + step])))) - 1 for step in (255, 256, 65_535, 65_536)]
    assert widths == [2, 4, 4, 8]


def test_pruning_does_not_make_damaged_records_sound(store: Store) -> None:
    """A pack with a changed or missing byte is dropped, not rewritten under a new checksum."""
    for name, data in (("records.bin", b"XXXBBB"), ("keys.npy", b"")):
        packs_of(store).add({key(1): b"AAA", key(2): b"BBB"})
        aged(store, {key(1): int(time.time() // DAY), key(2): 1})
        (folder,) = folders(store)
        (folder / name).write_bytes(data)
        assert prune_records(store, unused_since=time.time() - DAY).records == 0
        assert packs_of(store).find([key(1)]) == {}
        assert folders(store) == []


def test_what_stands_in_place_of_the_days_is_neither_waited_for_nor_changed(store: Store, tmp_path: Path) -> None:
    """A pipe, a link to a file of the user and a short file count as no record of use."""
    packs_of(store).add({key(1): b"AAA"})
    (folder,) = folders(store)
    mine = tmp_path / "mine"
    mine.write_bytes(b"")
    used = folder / ".used"
    for put in (lambda: os.mkfifo(used), lambda: used.symlink_to(mine), lambda: used.write_bytes(b"ab")):
        used.unlink(missing_ok=True)
        put()
        assert packs_of(store).find([key(1)]) == {key(1): b"AAA"}
        assert days_used(folder, 1).tolist() == [int((folder / "manifest.json").stat().st_mtime // DAY)]
    assert mine.read_bytes() == b""
    assert used.read_bytes() == b"ab"
