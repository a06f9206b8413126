"""How much of a corpus one task handles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_LITTLE = 0.05


class Division(NamedTuple):
    """The number of blocks a corpus is divided into, and the smallest and largest block size."""

    blocks: int
    smallest: int
    largest: int


SOURCE = Division(64, 128_000, 4_000_000)
"""Bytes: below the minimum, starting a task costs more than the work; above the maximum, progress is coarse and a kill
costs much."""
COUNTED_SOURCE = Division(32, 256_000, 4_000_000)
"""Bytes whose words are counted, which takes less time than cutting them."""
KNOWN_SOURCE = Division(8, 128_000, 64_000_000)
"""Bytes where all but a few files are cached: their records are quick to read, in large portions."""
ROWS = Division(16, 2_048, 32_768)
"""Chunks searched at a time. The results of every block are kept until all are searched, so there are few blocks."""
ROWS_HERE = Division(1, 1_024, 32_768)
"""The same where one process searches all blocks: fewer blocks mean less to join."""


def is_little(new: float, everything: float) -> bool:
    """Return whether so little is new, as after a night's changes, that dividing the work is not worth it."""
    return new <= _LITTLE * everything


def even_blocks(sizes: Sequence[int], division: Division | None = None) -> list[range]:
    """Return consecutive ranges of roughly equal sums; sizes are bytes of source unless `division` says otherwise."""
    division = division or SOURCE
    size = min(max(sum(sizes) // division.blocks, division.smallest), division.largest)
    blocks: list[range] = []
    start = held = 0
    for place, each in enumerate(sizes):
        if held and held + each > size:
            blocks.append(range(start, place))
            start, held = place, 0
        held += each
    return [*blocks, range(start, len(sizes))] if len(sizes) > start else blocks
