"""Progress on stderr: bars on a terminal; elsewhere a line every half minute, with --verbose one for each phase."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scripts.verbosity import is_quiet, is_verbose, note

if TYPE_CHECKING:
    from evaluation.experiment.progress import Progress

_LABELS = {
    "chunk": "chunking",
    "embed": "embedding",
    "words": "counting words",
    "search": "searching in parts",
    "score": "searching and scoring",
    "levels": "chance and ceiling",
}
_EVERY = 30
"""Seconds between two lines."""


@dataclass
class _Phase:
    label: str
    began: float
    total: int
    ended: float
    """When the last unit was finished; the beginning if there is none."""
    done: int = 0


@dataclass
class ProgressLines:
    """Reports progress on demand, with the remaining time at the rate so far."""

    say: Callable[[str], None]
    clock: Callable[[], float]
    verbose: bool = False
    _phases: dict[str, _Phase] = field(default_factory=dict)
    _current: _Phase | None = None

    def phase(self, name: str, total: int) -> None:
        """Begin a phase."""
        now = self.clock()
        self._current = self._phases[name] = _Phase(_LABELS.get(name, name), now, total, ended=now)
        if self.verbose:
            self.say(f"{self._current.label}: {total:,}")

    def tick(self, name: str, done: int) -> None:
        """Count finished units."""
        phase = self._current = self._phases[name]
        phase.done += done
        phase.ended = self.clock()

    def beat(self) -> None:
        """Report the most recently active phase, and how long the rest takes or has taken."""
        phase, now = self._current, self.clock()
        if phase is None:
            self.say("loading")
            return
        counts = f"{phase.label}: {phase.done:,} of {phase.total:,}"
        if phase.done >= phase.total:
            self.say(f"{counts}; what follows has taken {_time(now - phase.ended)} so far")
        elif phase.done:
            left = (now - phase.began) / phase.done * (phase.total - phase.done)
            self.say(f"{counts}, about {_time(left)} left")
        else:
            self.say(f"{counts} after {_time(now - phase.began)}")


@contextmanager
def _heartbeat(lines: ProgressLines) -> Iterator[None]:
    """Request a line every half minute while the block runs, however long a single unit of its work takes."""
    done = threading.Event()

    def ask() -> None:
        while not done.wait(_EVERY):
            lines.beat()

    asking = threading.Thread(target=ask, name="progress", daemon=True)
    asking.start()
    try:
        yield
    finally:
        done.set()
        asking.join()


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show one bar per phase while the block runs; nothing with --quiet."""
    from evaluation.experiment.progress import Progress

    if is_quiet():
        yield Progress()
        return
    if not sys.stderr.isatty():
        lines = ProgressLines(say=note, clock=time.monotonic, verbose=is_verbose())
        with _heartbeat(lines):
            yield Progress(lines.phase, lines.tick)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    from scripts.console import PlainConsole

    columns = (TextColumn("{task.description:>22}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, TimeRemainingColumn(), console=PlainConsole(stderr=True), transient=True) as bars:
        tasks = {}

        def phase(name: str, total: int) -> None:
            tasks[name] = bars.add_task(_LABELS.get(name, name), total=total)

        def tick(name: str, done: int) -> None:
            if name in tasks:
                bars.advance(tasks[name], done)

        yield Progress(phase, tick)
