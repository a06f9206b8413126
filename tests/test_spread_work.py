"""Work over the files of a repository: spread over processes and kept per content, it says what one process says."""

from __future__ import annotations

import json
import pickle
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small_corpora import Elsewhere, repository

from chunkers.errors import UsageError
from chunkers.file_facts import facts_of, file_facts, fingerprint
from chunkers.file_work import each_file
from chunkers.sources import Folder, Repository, walk
from chunkers.types import SourceFile
from evaluation.config import make_config
from evaluation.experiment.executors import Executor, Processes, Serial
from evaluation.experiment.file_memory import MemoryLimit, MemoryRepository
from evaluation.experiment.matching import match_sizes
from evaluation.experiment.session import Session
from evaluation.experiment.spread_work import spread_work
from evaluation.experiment.store import Store
from ground_truth.duplicates import Without
from ground_truth.git import resolve_ref
from ground_truth.git_snapshot import take_snapshot
from ground_truth.miners.mixed import CodeKind, mine_code
from ground_truth.transforms import crlf

OWN = Path(__file__).parents[1] / "chunkers"


@pytest.fixture(scope="module")
def two() -> Iterator[Executor]:
    """Return two processes that all tests share."""
    executor = Processes(2)
    yield executor
    executor.close()


def note(source: SourceFile) -> bytes:
    """Write down that a file was worked on, beside the repository; return its name and a byte that is no UTF-8."""
    (Path(source.data.decode().split("\n")[0]) / f"{source.path}.{len(source.data)}").touch()
    return source.path.encode() + b"\x80"


def complain(source: SourceFile) -> bytes:
    """Refuse every file."""
    raise UsageError(f"{source.path} is wrong")


def stumble(source: SourceFile) -> bytes:
    """Fail as a bug does."""
    raise ZeroDivisionError(source.path)


def folder_of(tmp_path: Path, *names: str) -> Folder:
    """Return a repository whose files say where to write notes."""
    (tmp_path / "code").mkdir(exist_ok=True)
    (tmp_path / "notes").mkdir(exist_ok=True)
    for name in names:
        (tmp_path / "code" / name).write_text(f"{tmp_path / 'notes'}\n")
    return walk(tmp_path / "code")


@pytest.mark.parametrize("kinds", [("docstrings",), ("docstrings", "comments")])
def test_mining_finds_the_same_however_it_is_spread(kinds: tuple[CodeKind, ...], tmp_path: Path, two: Executor) -> None:
    """Queries, answers, hidden text, counts: from this process, from two, and from what was kept."""
    alone = mine_code(walk(OWN), kinds, limit=50)
    store = Store(tmp_path)
    for executor in (two, two, Serial()):
        with spread_work(store, executor):
            assert mine_code(walk(OWN), kinds, limit=50) == alone
    assert len(alone.queries) > 10


def test_only_new_contents_are_worked_on(tmp_path: Path) -> None:
    """A second pass works on none, a third on the file that has changed; what is found is the same as at first."""
    folder = folder_of(tmp_path, *(f"{number}.py" for number in range(20)))
    store, notes = Store(tmp_path / "store"), tmp_path / "notes"
    with spread_work(store, Serial()):
        first = list(each_file(folder, "noted", note))
        assert len(list(notes.iterdir())) == 20
        for file in notes.iterdir():
            file.unlink()
        assert list(each_file(walk(folder.root), "noted", note)) == first
        assert not list(notes.iterdir())
        (folder.root / "7.py").write_text(f"{notes}\nchanged\n")
        again = list(each_file(walk(folder.root), "noted", note))
    assert [file.name.partition(".py")[0] for file in notes.iterdir()] == ["7"]
    assert [(each.facts.path, each.record) for each in again] == [(each.facts.path, each.record) for each in first]
    assert [each.facts.path for each in again] == sorted(each.facts.path for each in again)


def test_what_is_kept_needs_no_engine_and_is_one_entry(tmp_path: Path) -> None:
    """Blocks are done by the engine and kept together; a second pass asks it for nothing."""
    folder = folder_of(tmp_path, *(f"{number}.py" for number in range(20)))
    for path in folder.root.iterdir():
        path.write_text(path.read_text() + "#" * 20_000)
    folder = walk(folder.root)
    store, engine = Store(tmp_path / "store"), Elsewhere()
    with spread_work(store, engine):
        first = list(each_file(folder, "noted", note))
        assert len(engine.done) == 4
        assert len(store.folders()) == 1
        assert list(each_file(folder, "noted", note)) == first
        assert len(engine.done) == 4
    (folder.root / "0.py").write_text(f"{tmp_path / 'notes'}\nchanged\n")
    folder = walk(folder.root)
    with spread_work(store, engine):
        list(each_file(folder, "noted", note))
    assert [list(task.files.paths) for task in engine.done[4:]] == [["0.py"]]


def test_a_file_that_changes_while_a_dataset_is_loaded_is_named(tmp_path: Path, two: Executor) -> None:
    """What is worked on is what the walk saw: two states are never mixed."""
    folder = folder_of(tmp_path, *(f"{number}.py" for number in range(20)))
    (folder.root / "7.py").write_text(f"{tmp_path / 'notes'}\nchanged\n")
    for executor in (Serial(), two):
        with (
            spread_work(Store(tmp_path / "store"), executor),
            pytest.raises(UsageError, match=r"code/7\.py has changed since the dataset was loaded: run again"),
        ):
            list(each_file(folder, "noted", note))


def test_names_that_no_run_has_seen_are_looked_at_by_workers(tmp_path: Path) -> None:
    """In portions and in order; a second walk with a few more names asks for nobody, one with many more does."""
    code, store = tmp_path / "code", Store(tmp_path / "store")
    code.mkdir()
    for number in range(300):
        (code / f"{number}.py").write_text(f"a = {number}\n")
    (code / "binary.py").write_bytes(b"\0")
    alone = walk(code)
    assert list(alone.facts()) == [file_facts(source) for source in alone.files()]
    for more, tasks in ((0, 4), (5, 0), (200, 6)):
        for number in range(more):
            (code / f"more{more}{number}.py").touch()
        engine = Elsewhere()
        with spread_work(store, engine):
            found = walk(code)
        assert len(engine.done) == tasks
        assert (found, found.facts()) == (walk(code), walk(code).facts())
    few = Elsewhere()
    with spread_work(Store(tmp_path / "other"), few):
        walk(OWN / "peers")
    assert not few.done


def test_repositories_tell_what_is_in_them_without_their_text(tmp_path: Path) -> None:
    """A folder, some of its files, one with a transform, a commit, one without copies, one in memory, texts."""
    folder = folder_of(tmp_path, "a.py", "b.py", "c.py")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"]):
        subprocess.run(["git", *command], cwd=folder.root, check=True)
    snapshot = take_snapshot(folder.root, resolve_ref(folder.root, "HEAD"), name="code")
    repositories: list[Repository] = [
        folder,
        folder.only(["b.py"]),
        replace(folder, paths=("a.py", "c.py")),
        replace(folder, transform=crlf),
        replace(snapshot, transform=crlf),
        walk(folder.root / "b.py"),
        Folder("unwalked", folder.root, ("a.py",)),
        pickle.loads(pickle.dumps(folder)),  # noqa: S301 - our own
        snapshot,
        Without(folder, frozenset({"a.py"})),
        Without(repository("texts", {"a.py": "a = 1", "b.py": "b"}), frozenset({"a.py"})),
        MemoryRepository(snapshot, MemoryLimit()),
        MemoryRepository(repository("texts", {"a.py": "a = 1"}), MemoryLimit()),
        repository("texts", {"a.py": "a = 1"}),
    ]
    for each in repositories:
        assert list(facts_of(each)) == [file_facts(source) for source in each.files()]
    assert len({fingerprint(each) for each in repositories[:4]}) == 4
    assert fingerprint(snapshot) == fingerprint(folder)


def test_a_file_that_cannot_be_worked_on_ends_the_pass(tmp_path: Path, two: Executor) -> None:
    """With the user's error where it is the user's, and as a bug where it is one; nothing is dropped in silence."""
    folder = folder_of(tmp_path, *(f"{number}.py" for number in range(20)))
    for executor in (Serial(), two):
        with spread_work(Store(tmp_path / "store"), executor):
            with pytest.raises(UsageError, match=r"\.py is wrong"):
                list(each_file(folder, "refused", complain))
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                list(each_file(folder, "stumbled", stumble))


def test_a_commit_is_read_in_portions(tmp_path: Path) -> None:
    """All files, in order, and several at once as one by one."""
    code = tmp_path / "code"
    code.mkdir()
    for number in range(30):
        (code / f"{number}.py").write_text(f"a = {number}\n")
    (code / "binary.py").write_bytes(b"\0")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"]):
        subprocess.run(["git", *command], cwd=code, check=True)
    snapshot = take_snapshot(code, resolve_ref(code, "HEAD"), name="code")
    everything = list(snapshot.files())
    portions = snapshot.portions(4, least=3)
    assert len(portions) > 2
    assert [source for portion in portions for source in portion.files()] == everything
    wanted = ["3.py", "none.py", "binary.py", "11.py"]
    assert list(snapshot.read_many(wanted)) == [snapshot.read(path) for path in wanted]


def test_sizes_are_matched_alike_on_every_engine(tmp_path: Path, two: Executor) -> None:
    """The limits that two processes choose, block by block, are those of one."""
    gold = tmp_path / "gold.jsonl"
    row = {"query_id": "q", "query": "a file in pieces", "repo": "chunkers", "file": "cast.py"}
    gold.write_text(json.dumps({**row, "start_line": 1, "end_line": 9}) + "\n")
    config = make_config(
        {
            "datasets": (f"annotations:path={gold},root={OWN}",),
            "chunkers": ("cast", "recursive", "fixed-lines", "whole-file"),
            "match_size": "tokens=150",
        }
    )
    one, other = (
        match_sizes(Session.resolve(config, tmp_path / f"cache{number}"), executor)
        for number, executor in enumerate((Serial(), two))
    )
    assert one.chosen == other.chosen
    assert one.session.config == other.session.config
    assert "whole-file" in one.session.left_out
