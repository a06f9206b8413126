"""The store: entries are whole, checked and shared."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import session_of, word_dataset

from chunkers.errors import UsageError
from evaluation.experiment import stages
from evaluation.experiment.store import StageKey, Store

KEY = StageKey("chunk", {"corpus": "abc", "chunker": {"size": 3}})


def write_value(folder: Path) -> None:
    """Write one file."""
    (folder / "value.txt").write_text("seven")


def writer(text: str) -> Callable[[Path], None]:
    """Return what writes one file with this text."""

    def write(folder: Path) -> None:
        (folder / "value.txt").write_text(text)

    return write


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


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left"),
        (OSError("9 requested and 4 written"), "9 requested and 4 written"),  # numpy's, on a full disk
    ],
)
def test_a_write_that_fails_leaves_nothing(tmp_path: Path, error: OSError, told: str) -> None:
    """An entry is there whole or not at all, and the reason is named."""

    def full_disk(folder: Path) -> None:
        write_value(folder)
        raise error

    store = Store(tmp_path)
    with pytest.raises(UsageError, match=told):
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
    old, new = tmp_path / "chunk" / ".draft-old_____", tmp_path / "chunk" / ".draft-new_____"
    for draft in (old, new):
        draft.mkdir()
    os.utime(old, (1, 1))
    store.sweep()
    assert (old.exists(), new.exists()) == (False, True)
    assert store.get(KEY, read_value) == "seven"


def test_an_entry_under_another_name_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Two entries swapped by a copy gone wrong: both are sound, neither is believed, both are found by a check."""
    store = Store(tmp_path)
    other = StageKey("chunk", {"corpus": "abc", "chunker": {"size": 4}})
    for key, text in ((KEY, "seven"), (other, "eight")):
        store.put(key, writer(text))
    store.folder(KEY).rename(tmp_path / "aside")
    store.folder(other).rename(store.folder(KEY))
    (tmp_path / "aside").rename(store.folder(other))
    assert sorted(store.damaged()) == sorted([store.folder(KEY), store.folder(other)])
    assert not store.has(KEY)
    assert store.get(KEY, read_value) is None
    assert "foreign" in caplog.text
    store.put(KEY, write_value)
    assert store.get(KEY, read_value) == "seven"


def test_an_entry_of_another_stage_is_refused(tmp_path: Path) -> None:
    """The same inputs under another stage are another entry."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    moved = StageKey("score", KEY.inputs)
    (tmp_path / "score").mkdir()
    store.folder(KEY).rename(store.folder(moved))
    assert store.get(moved, read_value) is None


@pytest.mark.parametrize(
    "manifest",
    ["", "null", "[]", "{}", "7", '"x"', '{"version": 1}',
     '{"version": 2, "stage": "chunk", "inputs": {}, "files": {}}',
     '{"version": 1, "stage": 1, "inputs": {}, "files": {}}',
     '{"version": 1, "stage": "chunk", "inputs": [], "files": {}}',
     '{"version": 1, "stage": "chunk", "inputs": {}, "files": ["value.txt"]}', "[" * 100_000, "1" * 10_000, "\x00",
     '{"version": 1, "stage": "chunk", "inputs": {"corpus": "abc", "chunker": {"size": 3}}, "files": {}}',
     '{"version": 1, "stage": "chunk", "inputs": {"corpus": "abc", "chunker": {"size": 3}}, "files": {"value.txt": 3}}',
     '{"version": 1, "stage": "chunk", "inputs": {"corpus": "abc", "chunker": {"size": 3}}, "files": {"../x": "y"}}'],
)  # fmt: skip
def test_a_malformed_manifest_is_a_miss(tmp_path: Path, manifest: str) -> None:
    """Whatever stands in it, the entry is made again; a list without the file does not make the file believable."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    (store.folder(KEY) / "manifest.json").write_text(manifest)
    assert len(store.damaged()) == 1
    list(store.entries("chunk"))
    assert store.get(KEY, read_value) is None
    assert not store.folder(KEY).exists()


@given(st.dictionaries(st.text(), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)))  # fmt: skip
def test_a_key_is_itself_after_it_has_been_written_down(inputs: dict[str, object]) -> None:
    """The digest of the inputs as the manifest holds them is the entry's name, whatever they are."""
    written = json.loads(json.dumps(inputs, default=str))
    assert StageKey("chunk", written).digest == StageKey("chunk", inputs).digest


@pytest.mark.parametrize("way", ["a manifest of nothing", "no manifest", "a link", "a file"])
def test_what_is_in_the_way_of_an_entry_is_no_entry(tmp_path: Path, way: str) -> None:
    """An entry is written where something else has its name, and what a link leads to is left alone."""
    store = Store(tmp_path / "store")
    place = store.folder(KEY)
    place.parent.mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept").write_text("x")
    if way == "a link":
        place.symlink_to(tmp_path / "other")
    elif way == "a file":
        place.write_text("x")
    else:
        place.mkdir()
        (place / "rest").write_text("x")
        if way == "a manifest of nothing":
            (place / "manifest.json").write_text("{}")
    store.put(KEY, lambda folder: _write(folder / "a", b"new"))
    assert store.get(KEY, lambda folder: (folder / "a").read_bytes()) == b"new"
    assert (tmp_path / "other" / "kept").read_text() == "x"
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_entries_are_as_open_as_the_store(tmp_path: Path) -> None:
    """Temporary folders are made for their owner: others that share the store could not read what was put there."""
    for mode in (0o755, 0o770, 0o700):
        store = Store(tmp_path / f"{mode:o}")
        home = store.folder(KEY).parent
        home.mkdir(parents=True)
        home.chmod(mode)
        store.put(KEY, lambda folder: _write(folder / "a", b"new"))
        assert store.folder(KEY).stat().st_mode & 0o777 == mode


def test_what_lasts_is_forced_onto_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of the entry and the folder that holds it; one that is soon joined to others is not."""
    forced: list[int] = []
    monkeypatch.setattr(os, "fsync", forced.append)
    store = Store(tmp_path)
    store.put(KEY, write_value)
    assert len(forced) == 3
    forced.clear()
    store.put(StageKey("chunk", {"corpus": "other"}), write_value, lasting=False)
    assert forced == []
    assert store.get(StageKey("chunk", {"corpus": "other"}), read_value) == "seven"


def test_a_finished_stage_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks, rankings and scores of a cell are on the disk when they are said to be done."""
    forced: list[int] = []
    monkeypatch.setattr(os, "fsync", forced.append)
    session = session_of(word_dataset(), tmp_path)
    for stage in (
        lambda: stages.chunk(session, "words", "fixed-lines:lines=5"),
        lambda: stages.words(session, "words", "fixed-lines:lines=5"),
        lambda: stages.retrieve(session, session.cells[0]),
        lambda: stages.score(session, session.cells[0]),
        lambda: stages.levels(session, "words", "fixed-lines:lines=5"),
    ):
        forced.clear()
        stage()
        assert forced


def test_names_entries_and_reading_all_agree(tmp_path: Path) -> None:
    """Names are in order, entries the newest first; what is damaged is dropped while the others are read."""
    store = Store(tmp_path)
    keys = [StageKey("chunk", {"number": number}) for number in range(4)]
    for number, key in enumerate(keys):
        store.put(key, writer(str(number)))
        os.utime(store.folder(key) / "manifest.json", (1_000 + number, 1_000 + number))
    (tmp_path / "chunk" / ".draft-x_______").mkdir()
    (tmp_path / "chunk" / ".draft-x_______" / "manifest.json").write_text("{}")
    assert store.names("chunk") == sorted(key.digest for key in keys)
    assert [entry.inputs["number"] for entry in store.entries("chunk")] == [3, 2, 1, 0]
    assert store.folders() == [tmp_path / "chunk" / name for name in store.names("chunk")]
    assert sorted(store.read_all("chunk", read_value)) == ["0", "1", "2", "3"]
    chosen = [keys[2].digest, "gone", keys[0].digest]
    assert list(store.read_all("chunk", read_value, chosen)) == ["2", "0"]
    (store.folder(keys[1]) / "value.txt").write_text("changed")
    os.utime(store.folder(keys[1]) / "manifest.json")
    assert sorted(store.read_all("chunk", read_value)) == ["0", "2", "3"]
    assert not store.folder(keys[1]).exists()
    assert store.names("nothing") == []
    assert list(store.entries("nothing")) == []


def test_reading_an_entry_by_key_is_a_use_and_reading_all_is_none(tmp_path: Path) -> None:
    """Pruning asks when an entry was of use."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    os.utime(store.folder(KEY), (1_000, 1_000))
    list(store.read_all("chunk", read_value))
    assert store.folder(KEY).stat().st_mtime == 1_000
    store.get(KEY, read_value)
    assert store.folder(KEY).stat().st_mtime > 1_000
    store.touch(tmp_path / "gone")


def test_a_file_that_was_added_to_an_entry_is_noticed_and_a_dotted_one_is_not(tmp_path: Path) -> None:
    """When a record was used is noted in a dotted file beside the others."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    (store.folder(KEY) / ".used").write_text("x")
    assert store.damaged() == []
    (store.folder(KEY) / "more.txt").write_text("x")
    assert store.damaged() == [store.folder(KEY)]


def test_a_manifest_is_read_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of exactly so many bytes is an entry's; a longer one is not believed."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    size = (store.folder(KEY) / "manifest.json").stat().st_size
    monkeypatch.setattr("evaluation.experiment.store._LARGEST_MANIFEST", size)
    assert store.has(KEY)
    monkeypatch.setattr("evaluation.experiment.store._LARGEST_MANIFEST", size - 1)
    assert not store.has(KEY)


def test_drafts_are_swept_when_they_are_a_day_old(tmp_path: Path) -> None:
    """Not before."""
    store = Store(tmp_path)
    young, old = store.draft("chunk"), store.draft("score")
    now = time.time()
    os.utime(young, (now - 86_000, now - 86_000))
    os.utime(old, (now - 87_000, now - 87_000))
    store.sweep()
    assert (young.exists(), old.exists()) == (True, False)


def test_a_draft_is_as_young_as_the_file_that_was_written_last_in_it(tmp_path: Path) -> None:
    """A folder's own time stands still while a large file in it grows."""
    store = Store(tmp_path)
    draft = store.draft("dataset")
    (draft / "0").write_text("x")
    for old, left in ((draft, []), (draft / "0", [draft])):
        os.utime(old, (1_000, 1_000))
        assert store.abandoned() == left
    assert store.abandoned(untouched_since=1_000) == []
    assert store.abandoned(untouched_since=1_001) == [draft]
    store.sweep()
    assert store.drafts() == []


def test_a_link_that_was_being_removed_is_an_old_draft(tmp_path: Path) -> None:
    """What it leads to is left alone, and is not asked for its age."""
    store = Store(tmp_path / "store")
    (tmp_path / "other").mkdir()
    draft = store.draft("chunk")
    draft.rmdir()
    draft.symlink_to(tmp_path / "other")
    os.utime(draft, (1_000, 1_000), follow_symlinks=False)
    store.sweep()
    assert store.drafts() == []
    assert (tmp_path / "other").is_dir()


def test_a_folder_without_a_manifest_is_damaged_and_no_entry(tmp_path: Path) -> None:
    """Neither files nor drafts are taken for one; it is removed as an entry is."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    store.draft("chunk")
    (tmp_path / "chunk" / "notes").write_text("x")
    assert (store.spoiled(), store.damaged()) == ([], [])
    (store.folder(KEY) / "manifest.json").unlink()
    assert store.spoiled() == store.damaged() == [store.folder(KEY)]
    assert store.folders() == []
    store.remove(store.folder(KEY))
    assert store.spoiled() == []


def test_only_empty_folders_of_stages_are_tidied_away(tmp_path: Path) -> None:
    """One that holds an entry or a draft stays."""
    store = Store(tmp_path)
    store.put(KEY, write_value)
    draft = store.draft("dataset")
    (tmp_path / "score").mkdir()
    store.tidy()
    assert {path.name for path in tmp_path.iterdir()} == {"chunk", "dataset"}
    assert draft.is_dir()


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def test_only_entries_and_drafts_are_listed_for_removal(tmp_path: Path) -> None:
    """A user's folders that hold a manifest.json, drafts of other programs and what links lead to are left alone."""
    store = Store(tmp_path / "stages")
    other = Store(tmp_path / "other")
    for each in (store, other):
        each.put(KEY, write_value)
    (tmp_path / "stages" / "linked").symlink_to(tmp_path / "other" / "chunk")
    for name in ("mine", ".draft-thesis"):
        (tmp_path / "stages" / "chunk" / name).mkdir()
        (tmp_path / "stages" / "chunk" / name / "manifest.json").write_text("{}")
    (other.folder(KEY).parent / ".draft-abcdefgh").mkdir()
    (other.folder(KEY).parent / ("0" * 32)).mkdir()
    assert store.folders() == [store.folder(KEY)]
    assert store.drafts() == store.spoiled() == store.damaged() == []
    assert list(store.read_all("chunk", read_value)) == ["seven"]
    assert (tmp_path / "stages" / "chunk" / "mine").is_dir()
