"""Progress on stderr: bars on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.experiment.progress import Progress

_LABELS = {"chunk": "chunking", "embed": "embedding", "score": "searching and scoring", "levels": "chance and ceiling"}


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show one bar per phase while the block runs."""
    from evaluation.experiment.progress import Progress

    if not sys.stderr.isatty():
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:>22}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def phase(name: str, total: int) -> None:
            tasks[name] = bars.add_task(_LABELS.get(name, name), total=total)

        def tick(name: str, done: int) -> None:
            if name in tasks:
                bars.advance(tasks[name], done)

        yield Progress(phase, tick)
