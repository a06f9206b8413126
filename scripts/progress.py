"""Progress on stderr: bars on a terminal; elsewhere, with --verbose, a line for each phase."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scripts.verbosity import is_quiet, is_verbose, note

if TYPE_CHECKING:
    from evaluation.experiment.progress import Progress

_LABELS = {"chunk": "chunking", "embed": "embedding", "score": "searching and scoring", "levels": "chance and ceiling"}


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show one bar per phase while the block runs; nothing with --quiet."""
    from evaluation.experiment.progress import Progress

    if is_verbose() and not sys.stderr.isatty():
        yield Progress(lambda name, total: note(f"{_LABELS.get(name, name)}: {total:,}"))
        return
    if is_quiet() or not sys.stderr.isatty():
        yield Progress()
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
