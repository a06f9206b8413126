"""Cells whose rankings are read through a reader instead of chunk by chunk: the same search, other text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SourceFile
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.contestants import check_headline, span_record
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.records import FinishedCell
from evaluation.experiment.session import Session
from evaluation.experiment.span_places import Place, SpanRun
from evaluation.results.types import CellRecord
from evaluation.types import CellKey
from indexing.readers.registry import READERS
from indexing.readers.types import Reader, Stretch

DEFAULT = "chunk"
"""The reader of every cell that names none."""


def make_readers(session: Session) -> dict[str, Reader]:
    """Return the readers besides the default; raise if one cannot be created, or cannot be combined."""
    found = {spec: READERS.create(spec) for spec in session.config.readers if spec != DEFAULT}
    if found and session.config.offsets > 1:
        raise UsageError("readers and offsets cannot be combined: leave one of them out")
    if found:
        check_headline(session)
    return found


def read_record(session: Session, base: CellRecord, reader: Reader, *, key: CellKey) -> FinishedCell:
    """Return the cell of the same ranking under a reader, scored on text and files."""
    if base.status == "failed":
        return FinishedCell(CellRecord(key, "failed", base.reason))
    run = _run(session, base.key, reader, key.chunker)
    session.span_runs[key] = run
    config = session.config
    loaded = session.dataset(key.dataset)
    made = span_record(key, loaded, run, measures=session.measures, budgets=config.budgets)
    # Equal fingerprints would say that the cells read the same text.
    record = replace(
        made.record,
        chunks=replace(base.chunks, fingerprint=""),
        search=base.search,
        cost=replace(base.cost, tokens_to_50=made.record.cost.tokens_to_50, tokens_to_80=made.record.cost.tokens_to_80),
        seconds=base.seconds,
    )
    return made._replace(record=record)


def _run(session: Session, cell: CellKey, reader: Reader, name: str) -> SpanRun:
    loaded, chunks = session.dataset(cell.dataset), stages.chunk(session, cell.dataset, cell.chunker)
    corpus = _Files(loaded, chunks)
    columns = chunks.columns
    places: dict[str, list[Place]] = {}
    for query_id, hits in stages.retrieve(session, cell).ranking.items():
        stretches = [
            Stretch(int(columns["file"][row]), int(columns["start"][row]), int(columns["end"][row]), rank)
            for rank, row in enumerate(hit.position for hit in hits)
        ]
        places[query_id] = [
            Place(
                chunks.files[each.file],
                each.start,
                each.end,
                chunks.header(hits[each.hit].position, loaded),
                header_tokens=None,
                score=hits[each.hit].score,
            )
            for each in reader.read(stretches, corpus)
        ]
    return SpanRun(name, places)


@dataclass(frozen=True)
class _Files:
    """The files of a chunk table, for readers."""

    loaded: LoadedDataset
    table: ChunkTable

    def source(self, file: int) -> SourceFile:
        """Return a file."""
        key = self.table.files[file]
        return SourceFile(key.path, self.loaded.read(key), key.language, key.repo)

    def chunks(self, file: int) -> np.ndarray:
        """Return the file's chunks: rows of start and end, ascending."""
        columns = self.table.columns
        rows = slice(*np.searchsorted(columns["file"], [file, file + 1]))
        return np.stack([columns["start"][rows], columns["end"][rows]], axis=1)
