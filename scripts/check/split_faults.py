"""Faults in the middle of a stage whose work is divided among processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from scripts.check.fault_lab import (
    Disturbance,
    Ended,
    Lab,
    Trial,
    Window,
    as_calm,
    compare_kills,
    kill,
    last_line,
    nothing,
    positions,
    scores,
    start,
)

SPLIT = Window("split stage", "experiment/executors.py", "_share")
"""Open only while other processes have tasks: a single one is done in this process."""
NO_WORKER = 77
"""Exit code of a run that was to lose a worker but had none."""


def split_kills(lab: Lab, kills: int) -> Iterator[Trial]:
    """Kill the run while two workers have its blocks: they end with it, and what they have stored is used."""
    yield from compare_kills(lab.split, SPLIT, kill, kills)


def lost_workers(lab: Lab, kills: int) -> Iterator[Trial]:
    """Kill one of two workers: the run finishes as if nothing had happened."""
    lab = lab.split
    calls = lab.compare(lab.place(), Disturbance(SPLIT, 0, nothing)).calls
    for at in positions(calls, kills):
        place = lab.place()
        ended = lab.compare(place, Disturbance(SPLIT, at, _kill_worker))
        landed = ended.calls == at and ended.code != NO_WORKER
        wrong = _unlike(lab, place, ended) if landed else ""
        yield Trial(landed, ended, wrong or as_calm(lab, place))


def _kill_worker() -> None:
    """End a worker that has a task; there is none before the first divided stage."""
    workers = multiprocessing.active_children()
    if not workers:
        os._exit(NO_WORKER)
    os.kill(workers[0].pid or 0, signal.SIGKILL)


def two_runs(lab: Lab) -> Iterator[Trial]:
    """Run the same comparison twice at the same time on one cache, empty and full."""
    lab = lab.split
    cache = lab.place() / "cache"
    for _ in range(2):
        places = [lab.place(), lab.place()]
        under_way = [start(lab.arguments(place), cache=cache) for place in places]
        for place, each in zip(places, under_way, strict=True):
            ended = each.end()
            yield Trial(landed=True, ended=ended, wrong=_unlike(lab, place, ended))


def _unlike(lab: Lab, place: Path, ended: Ended) -> str:
    """Return how a run differs from an undisturbed one, or nothing."""
    if ended.code:
        return f"code {ended.code}: {last_line(ended.err)}"
    return "" if scores(place / "out") == lab.expected else "other scores"
