"""All pairs of overlapping intervals, found in about the time it takes to sort them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Intervals(NamedTuple):
    """Inclusive integer intervals as two arrays; one whose last comes before its first is empty."""

    first: np.ndarray
    last: np.ndarray


class Pairs(NamedTuple):
    """Positions of overlapping intervals, ordered by left, then right."""

    left: np.ndarray
    right: np.ndarray


def overlapping(left: Intervals, right: Intervals) -> Pairs:
    """Return every pair that shares at least one integer.

    The right side is grouped by length, doubling from group to group. In a group, no overlapping interval begins more
    than the group's largest length before the left one, so the candidates are one slice of the sorted starts and at
    most about half of them miss, however the intervals nest.
    """
    lengths = right.last - right.first + 1
    asked = np.flatnonzero(left.last >= left.first)
    group_of = np.where(lengths > 0, np.frexp(np.maximum(lengths, 1).astype(np.float64))[1], -1)
    found = [
        _in_group(left, asked, right, np.flatnonzero(group_of == group), longest=2 ** int(group))
        for group in np.unique(group_of[group_of >= 0])
    ]
    if not found:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    lefts = np.concatenate([pair.left for pair in found])
    rights = np.concatenate([pair.right for pair in found])
    order = np.lexsort((rights, lefts))
    return Pairs(lefts[order], rights[order])


def _in_group(left: Intervals, asked: np.ndarray, right: Intervals, members: np.ndarray, *, longest: int) -> Pairs:
    """Return the overlapping pairs with the members, none of which is longer than ``longest``."""
    members = members[np.argsort(right.first[members], kind="stable")]
    starts = right.first[members]
    low = np.searchsorted(starts, left.first[asked] - longest, side="right")
    high = np.searchsorted(starts, left.last[asked], side="right")
    counts = np.maximum(high - low, 0)
    lefts = np.repeat(asked, counts)
    slots = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
    rights = members[slots]
    hit = right.last[rights] >= left.first[lefts]
    return Pairs(lefts[hit], rights[hit])
