"""How much of a corpus one task takes."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = 64
"""Tasks that a corpus becomes, so that all cores end together; a bound on their size makes more of a large one."""
SMALLEST, LARGEST = 128_000, 4_000_000
"""Bytes of source: below, starting a task takes longer than doing it; above, progress is rare and a kill costs much."""


def even_blocks(sizes: Sequence[int]) -> list[range]:
    """Return consecutive ranges of about equal sums."""
    size = min(max(sum(sizes) // BLOCKS, SMALLEST), LARGEST)
    blocks: list[range] = []
    start = held = 0
    for place, each in enumerate(sizes):
        if held and held + each > size:
            blocks.append(range(start, place))
            start, held = place, 0
        held += each
    return [*blocks, range(start, len(sizes))] if len(sizes) > start else blocks
