"""A little work is done by the run itself; workers that have been started, or a cluster, do it where there are any."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from conftest import Command

from evaluation.experiment.blocks import is_little
from evaluation.experiment.executors import Processes, Serial
from evaluation.experiment.ray_engine import Ray

CHUNKERS = ("cast:size=400", "fixed-lines:lines=10")


def double(number: int) -> int:
    """Return twice the number."""
    return 2 * number


def test_workers_do_a_little_work_only_once_they_are_there() -> None:
    """Before the first task this process does it, then the workers, and after they have ended this process again."""
    workers = Processes(2)
    assert isinstance(workers.for_small_jobs(), Serial)
    try:
        assert sorted(outcome.value or 0 for outcome in workers.map(double, [1, 2, 3])) == [2, 4, 6]
        assert workers.for_small_jobs() is workers
    finally:
        workers.close()
    assert isinstance(workers.for_small_jobs(), Serial)
    assert Serial().for_small_jobs() == Serial()
    assert Ray().for_small_jobs() == Ray()


@pytest.mark.parametrize(
    ("new", "everything", "little"), [(0, 0, True), (5, 100, True), (6, 100, False), (1, 10, False), (0, 7, True)]
)
def test_one_in_twenty_is_little(new: int, everything: int, *, little: bool) -> None:
    """Up to and with 5 %."""
    assert is_little(new, everything) is little


def test_a_changed_file_costs_no_workers_and_changes_the_answer_as_from_nothing(
    chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two jobs no process is started, and every hit and its score are those of a run from an empty cache."""
    root = tmp_path / "code"
    root.mkdir()
    for path in (Path(__file__).parents[1] / "chunkers").glob("*.py"):
        (root / path.name).write_bytes(path.read_bytes())
    assert len(list(root.iterdir())) > 20

    def compare(cache: str, out: str) -> bytes:
        monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / cache))
        chunkers = [word for spec in CHUNKERS for word in ("--chunker", spec)]
        how = ("--retriever", "bm25", "--limit", "12", "--jobs", "2", "--out", tmp_path / out)
        assert chunkbench("compare", root, *chunkers, *how).code == 0
        return (tmp_path / out / "hits.parquet").read_bytes()

    first = compare("kept", "first")
    with (root / "cast.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef unrelated(chunk, size):\n    return chunk.text[:size]\n")

    def none_started(workers: int) -> None:
        raise AssertionError(f"{workers} processes were started")

    with monkeypatch.context() as patched:
        patched.setattr("evaluation.experiment.executors._start_pool", none_started)
        second = compare("kept", "second")
    assert second == compare("new", "third") != first


@pytest.mark.parametrize("verb", [("compare", "--jobs", "2"), ("plan",)])
def test_workers_end_with_a_run_that_fails_while_it_loads(
    chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    """They have looked for queries and found none; left alone, they may end in a traceback of Python's own."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "code"
    root.mkdir()
    for number in range(30):
        (root / f"{number}.py").write_text(f"value_{number} = {number}\n" * 1_000, "utf-8")
    before = multiprocessing.active_children()
    done = chunkbench(*verb, root, "--retriever", "bm25")
    assert (done.code, done.out) == (2, "")
    assert "gives no queries" in done.err
    assert set(multiprocessing.active_children()) <= set(before)
