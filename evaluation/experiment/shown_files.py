"""Whole files for the report: those that hold an answer or one of the best results, with every chunker's cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.session import Session
from evaluation.experiment.shown_texts import ShownSpan
from evaluation.results.types import CellRecord, FilePlace, Lines, QueryRecord

_BEST = 3
"""The files of this many top results of a query are kept."""
_MOST_TEXT = 16_000_000
"""Limit on the bytes of all files; gold comes first."""


class ShownFiles(NamedTuple):
    """Where the files are and, for each chunker, its chunks in them."""

    files: dict[FilePlace, ShownSpan]
    cuts: dict[tuple[str, FilePlace], tuple[Lines, ...]]


def shown_files(session: Session, cells: Sequence[CellRecord], queries: Sequence[QueryRecord]) -> ShownFiles:
    """Return the whole files that the reports show."""
    tables = {
        (cell.key.dataset, cell.key.chunker): stages.chunk(session, cell.key.dataset, cell.key.chunker)
        for cell in cells
        if cell.status == "ok" and not (cell.key.is_span_run or cell.key.is_read)
    }
    files: dict[FilePlace, ShownSpan] = {}
    sizes = {(spec, known.file): known.size for spec, _ in tables for known in session.dataset(spec).files}
    room = _MOST_TEXT
    for key in dict.fromkeys(_wanted(cells, queries)):
        table = next((table for (dataset, _), table in tables.items() if dataset == key.dataset), None)
        place = table.file_index.get((key.repo, key.path)) if table else None
        if table is None or place is None:
            continue
        file = table.files[place]
        size = sizes[key.dataset, file]
        if size <= room:
            room -= size
            files[key] = ShownSpan(key.dataset, file, 0, size)
    cuts = {}
    for (dataset, chunker), table in tables.items():
        for key in (each for each in files if each.dataset == dataset):
            place = table.file_index[key.repo, key.path]
            rows = slice(*np.searchsorted(table.columns["file"], [place, place + 1]))
            ends = (table.columns[name][rows].tolist() for name in ("start_line", "end_line"))
            cuts[chunker, key] = tuple(map(Lines, *ends))
    return ShownFiles(files, cuts)


def _wanted(cells: Sequence[CellRecord], queries: Sequence[QueryRecord]) -> Iterator[FilePlace]:
    """Yield the files with answers, then those of the best results, rank by rank."""
    scored = {cell.key.dataset for cell in cells if cell.status == "ok"}
    repos = {(query.dataset, query.id): query.repo for query in queries if query.dataset in scored}
    for query in queries:
        if query.dataset in scored:
            yield from (FilePlace(query.dataset, query.repo, gold.path) for gold in query.gold)
    for rank in range(_BEST):
        for cell in cells:
            for query_id, hits in cell.hits.items():
                for hit in hits[rank : rank + 1]:
                    yield FilePlace(cell.key.dataset, repos[cell.key.dataset, query_id], hit.path)
