"""What reading each displayed result takes, as budgets count it: its header, and text that none above it showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.file_rulers import file_rulers
from evaluation.experiment.header_cost import header_tokens
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.measures.reading import read
from evaluation.types import TextCase, TextSpan

HITS_SHOWN = 10
_UNIT: SizeUnit = "tokens"


def hit_costs(cases: Iterable[TextCase]) -> list[list[int]]:
    """Return the tokens that each of the displayed results of every case adds to what is read."""
    shown = [
        replace(
            case,
            results=case.results[:HITS_SHOWN],
            headers={unit: costs[:HITS_SHOWN] for unit, costs in case.headers.items()},
        )
        for case in cases
    ]
    costs = map(int, read(shown, _UNIT).result_costs)
    return [list(islice(costs, len(case.results))) for case in shown]


def chunk_costs(loaded: LoadedDataset, chunks: ChunkTable, rankings: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return the same for rankings of a chunk table's rows."""
    rulers = {_UNIT: file_rulers(chunks, _UNIT, loaded)}
    places = [chunks.columns[name] for name in ("file", "start", "end")]

    def case(rows: Sequence[int]) -> TextCase:
        spans = [TextSpan(*(int(column[row]) for column in places)) for row in rows]
        above = header_tokens([chunks.header(row, loaded) for row in rows]).tolist() if chunks.has_headers else []
        return TextCase(spans, (), rulers, {_UNIT: above} if any(above) else {})

    return hit_costs(case(rows[:HITS_SHOWN]) for rows in rankings)
