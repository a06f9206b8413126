"""Executors: the same outcomes wherever the work is done, and no task lost."""

from __future__ import annotations

import functools
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chunkers.errors import NO_MEMORY, UsageError
from evaluation.experiment.executors import (
    Executor,
    Outcome,
    Processes,
    Serial,
    _begin,
    _uninterrupted,
    attempt,
    make_executor,
)

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def work(task: int) -> int:
    """Square the task; fail or die on purpose for some."""
    if task == 3:
        raise UsageError("three is bad")
    if task == 4:
        raise ZeroDivisionError("four divides")
    if task == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def leave(task: int) -> int:
    """End the process, as other people's code may."""
    sys.exit(task)


@pytest.mark.parametrize("executor", [Serial(), Processes(2)])
def test_code_that_ends_the_process_fails_its_task_only(executor: Executor) -> None:
    """Its reason is what it would have ended with; an interruption is no failure of a task."""
    found = {outcome.task: outcome.error for outcome in executor.map(leave, [0, 3])}
    executor.close()
    assert found == {0: "SystemExit: 0", 3: "SystemExit: 3"}

    def interrupt(_task: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(interrupt, 1)


@pytest.mark.parametrize("executor", [Serial(), Processes(2)])
def test_a_failure_is_an_outcome(executor: Executor) -> None:
    """A task that raises is reported with its reason; the others have their values."""
    outcomes = {outcome.task: outcome for outcome in executor.map(work, [1, 2, 3, 4])}
    assert {task: outcome.value for task, outcome in outcomes.items()} == {1: 1, 2: 4, 3: None, 4: None}
    assert outcomes[3].error == "three is bad"
    assert outcomes[4].error == "ZeroDivisionError: four divides"


def test_a_worker_that_dies_fails_its_own_task_only() -> None:
    """A killed process costs one task, not the run."""
    outcomes = {outcome.task: outcome for outcome in Processes(2).map(work, [1, 2, 5, 6])}
    assert {task: outcome.value for task, outcome in outcomes.items()} == {1: 1, 2: 4, 5: None, 6: 36}
    assert "died" in outcomes[5].error


@pytest.mark.parametrize(
    ("outcome", "kind", "said"),
    [
        (Outcome(1, None, "bad row", usage=True), UsageError, "bad row"),
        (Outcome(1, None, "OSError: x", outside="no room"), UsageError, "no room"),
        (Outcome(1, None, "ValueError: x"), RuntimeError, "ValueError: x"),
    ],
)
def test_what_is_raised_is_the_users_or_the_machines_fault_or_a_bug(
    outcome: Outcome[int, int], kind: type[Exception], said: str
) -> None:
    """The first two are told in one line; the last is a bug."""
    assert type(outcome.exception) is kind
    assert str(outcome.exception) == said


@pytest.mark.parametrize(
    ("error", "outside"),
    [
        (OSError(28, "No space left", "a.npy"), "a.npy cannot be read or written: No space left"),
        (OSError(28, "No space left"), "a file cannot be read or written: No space left"),
        (OSError("odd"), "a file cannot be read or written: odd"),
        (MemoryError("x"), NO_MEMORY),
        (ValueError("x"), ""),
    ],
)
def test_what_the_machine_is_short_of_is_told_apart(error: Exception, outside: str) -> None:
    """A file or memory; anything else is the work's own."""

    def fail(_task: int) -> None:
        raise error

    found = attempt(fail, 1)
    assert (found.outside, found.usage, found.error) == (outside, False, f"{type(error).__name__}: {error}")


def test_an_engine_is_made_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker needs no processes; without a number there are as many as cores that this process may use."""
    cores = 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(1 if process else cores)))
    assert make_executor("serial", 4) == Serial()
    assert [make_executor("processes", count) for count in (1, 2, 3)] == [Serial(), Processes(2), Processes(3)]
    assert make_executor("processes", None) == Processes(cores)
    assert (Serial().elsewhere, Processes(2).elsewhere) == (False, True)
    with pytest.raises(UsageError):
        make_executor("processs", 2)


def where(_task: object) -> dict[str, Any]:
    """Say what the process is like in which a task is done."""
    return {
        "process": os.getpid(),
        "cores": [os.environ.get(name) for name in THREADS],
        "level": logging.getLogger("evaluation").level,
        "interrupt": signal.getsignal(signal.SIGINT) is signal.SIG_DFL,
        "blocked": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []),
    }


def meet(folder: Path, task: int) -> bool:
    """Return whether another task is done at the same time."""
    (folder / str(task)).touch()
    end = time.monotonic() + 120
    while len(list(folder.iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    return len(list(folder.iterdir())) == 2


def values(outcomes: Iterable[Outcome[Any, Any]]) -> list[Any]:
    """Return what the work has given, for tasks that do not fail."""
    return [each.value for each in outcomes]


def test_processes_work_at_the_same_time_each_on_one_core(tmp_path: Path) -> None:
    """They log as the run does; a single task, a single worker and all that embeds is done here."""
    executor, here = Processes(2), os.getpid()
    executor.close()
    assert [each["process"] for each in values(executor.map(where, [1]))] == [here]
    assert [each["process"] for each in values(Processes(1).map(where, [1, 2]))] == [here, here]
    assert [each["process"] for each in values(executor.map_embedding(where, [1, 2]))] == [here, here]
    assert list(executor.map(where, [])) == []
    level = logging.getLogger("evaluation").level
    logging.getLogger("evaluation").setLevel(logging.ERROR)
    try:
        assert [each.value for each in executor.map(functools.partial(meet, tmp_path), [1, 2])] == [True, True]
        found = values(executor.map(where, [1, 2]))
    finally:
        logging.getLogger("evaluation").setLevel(level)
        executor.close()
    assert here not in [each.pop("process") for each in found]
    like = {"cores": ["1", "1", "1"], "level": logging.ERROR, "interrupt": True, "blocked": False}
    assert found == [like, like]
    executor.close()


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave signals, loggers and variables as they were."""
    for name in THREADS:
        monkeypatch.setenv(name, "7")
    handler, level = signal.getsignal(signal.SIGINT), logging.getLogger("evaluation").level
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    yield
    signal.signal(signal.SIGINT, handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    logging.getLogger("evaluation").setLevel(level)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("level", [logging.NOTSET, logging.ERROR])
def test_a_worker_begins_with_one_core_and_ends_on_an_interrupt(level: int) -> None:
    """It takes over the run's level where there is one, and leaves its logger alone where there is none."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    logging.getLogger("evaluation").setLevel(logging.CRITICAL)
    _begin(level)
    found = where(0)
    assert (found["cores"], found["interrupt"], found["blocked"]) == (["1", "1", "1"], True, False)
    assert found["level"] == (level or logging.CRITICAL)


def test_an_interrupt_waits_until_workers_have_started() -> None:
    """What is under way is done, then the interrupt comes; without one nothing does, and the handler is as before."""
    before, done = signal.getsignal(signal.SIGINT), []
    with _uninterrupted():
        done.append("quiet")

    def interrupted() -> None:
        with _uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("interrupted")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["quiet", "interrupted"]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_workers_may_be_started_from_any_thread() -> None:
    """Only the main thread may change handlers of signals."""
    found: list[object] = []

    def start() -> None:
        try:
            with _uninterrupted():
                found.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
        except ValueError as error:
            found.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert found == [True]
