"""Batches of texts padded to one width: a text's vector never depends on the other texts in its batch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

WIDTH_STEP = 8
"""Texts are padded to a multiple of this. Sums of one width are added in one order, so vectors are equal bit for bit
whatever the batch; measured, it also costs nothing against the tightest padding."""


class Batch(NamedTuple):
    """Some texts and the number of tokens each is padded to."""

    rows: list[int]
    width: int


def padded_width(tokens: int) -> int:
    """Return the width to which a text of this many tokens is padded."""
    return -(-tokens // WIDTH_STEP) * WIDTH_STEP


def token_batches(lengths: Sequence[int], *, budget: int) -> Iterator[Batch]:
    """Yield batches of at most ``budget`` padded tokens, longest first, each of one width and none empty."""
    rows: list[int] = []
    width = 0
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        wanted = padded_width(lengths[row])
        if rows and (wanted != width or (len(rows) + 1) * width > budget):
            yield Batch(rows, width)
            rows = []
        width = wanted
        rows.append(row)
    if rows:
        yield Batch(rows, width)


def cores() -> int:
    """Return the number of processors this process may use, at most OMP_NUM_THREADS, which executors set."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    bound = os.environ.get("OMP_NUM_THREADS", "")
    return min(there, int(bound)) if bound.isdigit() and int(bound) else there


def run_in_threads(work: Callable[[Batch], None], batches: Iterator[Batch], *, threads: int) -> None:
    """Apply the work to every batch; the first error stops all threads and is raised."""
    lock = threading.Lock()
    errors: list[BaseException] = []

    def worker() -> None:
        while not errors:
            with lock:
                batch = next(batches, None)
            if batch is None:
                return
            try:
                work(batch)
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                errors.append(error)

    started = [threading.Thread(target=worker, daemon=True) for _ in range(threads)]
    for thread in started:
        thread.start()
    try:
        for thread in started:
            thread.join()
    except BaseException as error:
        # An interrupt reaches only the caller's thread; the others finish their batch.
        errors.append(error)
        raise
    if errors:
        raise errors[0]
