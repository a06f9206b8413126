"""Executors: the same outcomes wherever the work is done, and no task lost."""

from __future__ import annotations

import os
import signal

import pytest

from chunkers.errors import UsageError
from evaluation.experiment.executors import Executor, Processes, Serial


def work(task: int) -> int:
    """Square the task; fail or die on purpose for some."""
    if task == 3:
        raise UsageError("three is bad")
    if task == 4:
        raise ZeroDivisionError("four divides")
    if task == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


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
