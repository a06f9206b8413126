"""How deep a ranking must be kept so that every budget can be read to its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.measures.measure import Measure
from indexing.found import Found
from indexing.types import Hit

LEAST = 100
"""Ranks that are always kept."""

EVERYTHING = 10**12
"""More tokens than any ranking has."""


def largest_budgets(measures: Iterable[Measure], curve: Sequence[int]) -> dict[SizeUnit, int]:
    """Return, for each unit, the largest budget that a measure or the curve, which is in tokens, reads.

    A measure that reads more ranks than are always kept, or all of them, gets an unlimited budget: its value must not
    depend on what other measures read.
    """
    largest: dict[SizeUnit, int] = {"tokens": max(curve, default=0)}
    for measure in measures:
        for unit in measure.units:
            largest[unit] = max(measure.budget or 0, largest.get(unit, 0))
        if _looks_beyond(measure):
            largest["tokens"] = EVERYTHING
    return largest


def _looks_beyond(measure: Measure) -> bool:
    """Return whether the measure reads ranks that need not be kept for any budget."""
    if measure.budget is not None or measure.direction == "none" or "chunks" in measure.needs:
        return False
    return measure.cutoff is None or measure.cutoff > LEAST


def kept_ranks(
    chunks: ChunkTable,
    rows: np.ndarray,
    found: Iterable[Found],
    *,
    budgets: Mapping[SizeUnit, int],
    sizes: Mapping[SizeUnit, np.ndarray],
) -> Iterator[Sequence[Hit]]:
    """Yield each query's ranking of some of the rows, up to the first rank at which every budget is surely spent.

    Text that was already read is free, so the sum of sizes overstates what was read, but at most by a factor of the
    number of chunks that hold the same byte.
    """
    folds = _most_chunks_on_a_byte(chunks, rows)
    for group in found:
        there = group.positions >= 0
        kept = np.full(len(there), LEAST)
        for unit, budget in budgets.items():
            spent = np.cumsum(np.where(there, sizes[unit][group.positions], 0), axis=1)
            kept = np.maximum(kept, (spent < budget * folds).sum(axis=1) + 1)
        # Drop what no ranking keeps before hits are built from it.
        wide = int(kept.max(initial=0))
        for hits, last in zip(
            Found(group.positions[:, :wide], group.scores[:, :wide]).hits(), kept.tolist(), strict=True
        ):
            yield hits[:last]


def _most_chunks_on_a_byte(chunks: ChunkTable, rows: np.ndarray) -> int:
    if not len(rows):
        return 1
    files = chunks.columns["file"][rows].astype(np.int64)
    # One axis through all files: the file number comes first, and an end counts before a start at the same byte.
    starts, ends = chunks.columns["start"][rows], chunks.columns["end"][rows]
    stride = int(ends.max()) + 1
    points = np.concatenate((files * stride + ends, files * stride + starts))
    steps = np.concatenate((np.full(len(ends), -1), np.ones(len(starts), dtype=np.int64)))
    return int(np.cumsum(steps[np.argsort(points, kind="stable")]).max())
