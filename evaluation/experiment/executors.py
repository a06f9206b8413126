"""Executors: this process, or all cores. Results arrive as they finish, and a failure is a result too."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor as Pool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from chunkers.errors import NO_MEMORY, UsageError
from evaluation.run_options import check_engine

Task = TypeVar("Task")
Value = TypeVar("Value")


class Outcome(NamedTuple, Generic[Task, Value]):
    """A task and its value, or the reason why it has none."""

    task: Task
    value: Value | None
    error: str = ""
    usage: bool = False
    """Whether the user's input was at fault."""
    outside: str = ""
    """The exhausted machine resource, where that is the reason."""

    @property
    def exception(self) -> Exception:
        """The exception to raise where nothing can continue without this task."""
        if self.usage or self.outside:
            return UsageError(self.outside or self.error)
        return RuntimeError(self.error)


class Executor(Protocol):
    """Runs a function over tasks; a task that raises yields its reason and does not stop the others."""

    elsewhere: ClassVar[bool]
    """Whether other processes do the work, here or on other machines."""

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield each task's outcome as it finishes."""

    def map_embedding(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes of tasks that each use every core of a machine."""

    def for_small_jobs(self) -> Executor:
        """Return the executor for small jobs, where starting workers would cost more than the work."""

    def close(self) -> None:
        """Release all resources; a later map acquires them again."""


def attempt(work: Callable[[Any], Any], task: Any) -> Outcome[Any, Any]:  # noqa: ANN401 - any task
    """Return the task's value, or the reason why it has none."""
    try:
        return Outcome(task, work(task))
    except UsageError as error:
        return Outcome(task, None, str(error), usage=True)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a cell raises becomes that cell's reason
        import traceback

        logging.getLogger(__name__).debug("%s", traceback.format_exc())
        return Outcome(task, None, f"{type(error).__name__}: {error}", outside=_outside(error))


_DIED = "the worker process died (out of memory?)"


def _outside(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} cannot be read or written: {error.strerror or error}"
    return NO_MEMORY if isinstance(error, MemoryError) else ""


@dataclass(frozen=True, slots=True)
class Serial:
    """Runs tasks one after the other, in this process."""

    elsewhere: ClassVar[bool] = False

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes in the order of the tasks."""
        return (attempt(work, task) for task in tasks)

    def map_embedding(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes in the order of the tasks."""
        return self.map(work, tasks)

    def for_small_jobs(self) -> Executor:
        """Return itself."""
        return self

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


@dataclass(slots=True)
class Processes:
    """Local processes, one task at a time each; they persist across phases, with the datasets they have loaded."""

    workers: int
    elsewhere: ClassVar[bool] = True
    _pool: Pool | None = field(default=None, init=False, repr=False)

    def map_embedding(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Embed in this process: the encoder has its own threads."""
        return Serial().map(work, tasks)

    def for_small_jobs(self) -> Executor:
        """Return these workers if they have been started, else this process."""
        return self if self._pool is not None else Serial()

    def close(self) -> None:
        """Stop the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes as they finish; a worker that dies fails its own task only."""
        if len(tasks) < 2 or self.workers < 2:
            yield from Serial().map(work, tasks)
            return
        left = deque(tasks)
        while left:
            # The pool cannot say whose worker died: tasks in progress are retried, each in a pool of its own.
            for task in (yield from self._share(work, left)):
                yield _alone(work, task)

    def _share(self, work: Callable[[Any], Any], left: deque[Any]) -> Generator[Outcome[Any, Any], None, list[Any]]:
        """Yield outcomes until all tasks are taken or a worker dies; return the tasks in progress at that point."""
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        under_way: dict[Any, Any] = {}
        try:
            while left or under_way:
                with _uninterrupted():
                    self._pool = self._pool or _start_pool(self.workers)
                    while left and len(under_way) < 2 * self.workers:
                        future = self._pool.submit(attempt, work, left[0])
                        under_way[future] = left.popleft()
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    del under_way[future]
                    yield outcome
        except BrokenProcessPool:
            self._pool = None
        return list(under_way.values())


def _alone(work: Callable[[Any], Any], task: Any) -> Outcome[Any, Any]:  # noqa: ANN401 - any task
    from concurrent.futures.process import BrokenProcessPool

    with _start_pool(1) as pool:
        try:
            with _uninterrupted():
                future = pool.submit(attempt, work, task)
            return future.result()
        except BrokenProcessPool:
            return Outcome(task, None, _DIED, outside=_DIED)


def make_executor(engine: str, workers: int | None) -> Executor:
    """Return the engine of that name: serial, processes, ray, or the address of a Ray cluster."""
    check_engine(engine)
    if engine.startswith("ray"):
        from evaluation.experiment.ray_engine import Ray

        return Ray(None if engine == "ray" else engine)
    count = workers if workers is not None else len(os.sched_getaffinity(0))
    return Serial() if engine == "serial" or count < 2 else Processes(count)


def _start_pool(workers: int) -> Pool:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Start fresh interpreters: a forked one would inherit locks of threads that do not exist in it.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=(logging.getLogger("evaluation").level,)
    )


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block Ctrl-C while workers start, in the workers too: each would end with a traceback."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started with the first worker, it would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    held: list[int] = []
    # The mask covers this thread and the workers; another thread may still receive the signal for the process.
    here = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _frame: held.append(number)) if here else None
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if here:
            signal.signal(signal.SIGINT, handler)
    if held:
        raise KeyboardInterrupt


def _begin(level: int) -> None:
    """Log as the run does, use one core, since the processes are the parallelism, and exit when the run is killed."""
    if level:
        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("evaluation").setLevel(level)
    # From here on Ctrl-C ends the worker silently; the parent process handles it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """Exit this process when its parent is gone: a killed parent cannot stop its workers, which would wait forever."""
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
