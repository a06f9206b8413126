"""The cost of a cell's indexes, measured while its rankings are made and stored with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

MOST_TIMED = 100
"""Queries of a cell that are repeated one at a time for timing."""
MOST_SECONDS = 5.0
"""Time limit for that; a slow search is timed on fewer queries, and the number is reported."""


def timed_queries(count: int) -> range:
    """Return the indices of the timed queries, given their total number."""
    return range(0, count, -(-count // MOST_TIMED) or 1)


def time_alone(ask: Callable[[int], object], places: Iterable[int], *, most_seconds: float) -> dict[int, float]:
    """Repeat queries one at a time, as a user would, after all were searched together; query → seconds."""
    spent: dict[int, float] = {}
    for place in places:
        if sum(spent.values()) > most_seconds:
            break
        began = time.perf_counter()
        ask(place)
        spent[place] = time.perf_counter() - began
    return spent
