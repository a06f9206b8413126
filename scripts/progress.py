"""Progress on stderr: bars on a terminal; elsewhere a line every half minute, with --verbose one for each phase."""

from __future__ import annotations

import sys
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
    began: float
    total: int
    done: int = 0


@dataclass
class ProgressLines:
    """Says where a phase stands, at most every half minute, with what is left at the rate so far."""

    say: Callable[[str], None]
    clock: Callable[[], float]
    verbose: bool = False
    _said: float = 0.0
    _phases: dict[str, _Phase] = field(default_factory=dict)

    def phase(self, name: str, total: int) -> None:
        """Begin a phase."""
        self._said = self.clock()
        self._phases[name] = _Phase(self._said, total)
        if self.verbose:
            self.say(f"{_LABELS.get(name, name)}: {total:,}")

    def tick(self, name: str, done: int) -> None:
        """Count what is done; say so where nothing was said for half a minute."""
        phase = self._phases[name]
        phase.done += done
        now = self.clock()
        if now - self._said < _EVERY or not phase.done:
            return
        self._said = now
        left = (now - phase.began) / phase.done * (phase.total - phase.done)
        self.say(f"{_LABELS.get(name, name)}: {phase.done:,} of {phase.total:,}, about {_time(left)} left")


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
