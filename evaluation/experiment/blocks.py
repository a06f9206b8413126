"""How much of a corpus one task takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_LITTLE = 0.05


class Division(NamedTuple):
    """Into how many blocks a corpus is divided, and how small and how large one may be."""

    blocks: int
    smallest: int
    largest: int


SOURCE = Division(64, 128_000, 4_000_000)
"""Bytes: below, starting a task takes longer than doing it; above, progress is rare and a kill costs much."""
COUNTED_SOURCE = Division(32, 256_000, 4_000_000)
"""Bytes whose words are counted, which takes less time than cutting them."""
KNOWN_SOURCE = Division(8, 128_000, 64_000_000)
"""Bytes where all but a few files were worked before: what is kept of them is read quickly, and in large portions."""
ROWS = Division(16, 2_048, 32_768)
"""Chunks that are searched at a time: what is found in each block is kept until all are searched, so there are few."""
ROWS_HERE = Division(1, 1_024, 32_768)
"""The same where one process searches all blocks: the fewer there are, the less there is to join."""


def is_little(new: float, everything: float) -> bool:
    """Return whether so little is new, as after a night's changes, that nothing need be divided for it."""
    return new <= _LITTLE * everything


def even_blocks(sizes: Sequence[int], division: Division | None = None) -> list[range]:
    """Return consecutive ranges of about equal sums; sizes are bytes of source unless they are divided otherwise."""
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
