"""Places of a repository that may answer a question, and those that answer it equally well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ground_truth.equal_values import group_equal

NEAR = 0.8
"""Bodies that share this much of their distinct lines (Jaccard) answer the same question equally well."""
MIN_DISTINCT_LINES = 4
"""Bodies with fewer distinct lines resemble each other by chance."""
_COMMON_LINE = 50
"""A line of more bodies than this is not used to find near-identical ones: ``return None`` and the like."""


class Places(NamedTuple):
    """Arrays with an entry for each place, in file order."""

    file: np.ndarray
    """The number of its file."""
    start_line: np.ndarray
    end_line: np.ndarray
    asks: np.ndarray
    """Whether its text may be a query."""
    ends: np.ndarray
    """Where its lines end in `body`; they begin where those of the previous place end."""
    body: np.ndarray
    """Hashes of the distinct lines of every place."""
    others: np.ndarray
    """Hashes of the distinct lines of bodies that are too short to be places."""

    def lines(self, place: int) -> np.ndarray:
        """Return the hashes of the distinct lines of a place."""
        return self.body[self.ends[place - 1] if place else 0 : self.ends[place]]


def near_identical(places: Places) -> dict[int, list[int]]:
    """Return, for each place that asks, the others that share most of its lines and do not overlap it, if any."""
    found: dict[int, list[int]] = {}
    lines: dict[int, frozenset[int]] = {}
    for one, other in _proposed(places):
        ours, theirs = (lines.get(n) or lines.setdefault(n, frozenset(places.lines(n).tolist())) for n in (one, other))
        if len(ours & theirs) >= NEAR * len(ours | theirs):
            found.setdefault(one, []).append(other)
    return found


def _proposed(places: Places) -> Iterator[tuple[int, int]]:
    """Yield pairs that share one of the first's rarest lines, are of similar size and do not overlap."""
    sizes = np.diff(places.ends, prepend=0)
    owner = np.concatenate((np.repeat(np.arange(len(sizes)), sizes), np.full(len(places.others), -1)))
    lines = group_equal(np.concatenate((places.body, places.others)))
    group = np.empty(len(owner), dtype=np.int64)
    group[lines.places] = np.repeat(np.arange(len(lines.counts)), lines.counts)
    rare = _rarest(places, sizes, lines.counts[group[: len(places.body)]])

    counts = lines.counts[group[rare]]
    before = lines.begins[group[rare]] - (np.cumsum(counts) - counts)
    one = np.repeat(owner[rare], counts)
    other = owner[lines.places[np.arange(len(one)) + np.repeat(before, counts)]]
    pairs = np.unique((one * len(sizes) + other)[(other >= 0) & (one != other)])
    one, other = pairs // max(len(sizes), 1), pairs % max(len(sizes), 1)
    alike = np.minimum(sizes[one], sizes[other]) >= NEAR * np.maximum(sizes[one], sizes[other])
    apart = (places.start_line[one] > places.end_line[other]) | (places.start_line[other] > places.end_line[one])
    kept = alike & (apart | (places.file[one] != places.file[other]))
    return zip(one[kept].tolist(), other[kept].tolist(), strict=True)


def _rarest(places: Places, sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return where in the body the lines are that find others; ``counts`` is the number of places of each line.

    A near-identical place lacks so few of the lines of another that it has one of the rarest few.
    """
    asking = np.flatnonzero(places.asks & (sizes >= MIN_DISTINCT_LINES))
    few = sizes[asking] - np.ceil(NEAR * sizes[asking]).astype(np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    by_count = np.sort(owner << 32 | counts) & 0xFFFFFFFF
    most = np.zeros(len(sizes), dtype=np.int64)
    most[asking] = by_count[places.ends[asking] - sizes[asking] + few]
    rarest: np.ndarray = np.flatnonzero((counts > 1) & (counts <= np.minimum(most, _COMMON_LINE)[owner]))
    return rarest
