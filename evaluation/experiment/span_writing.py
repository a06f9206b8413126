"""The rankings of a comparison as a span run that scores the same to the last digit."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chunkers.errors import UsageError
from evaluation.atomic import replace_lines
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.header_cost import header_cost
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.offsets import cells_at_offsets, offset_specs, with_offsets
from evaluation.experiment.run import ExperimentShard, share_of
from evaluation.experiment.session import Session
from evaluation.experiment.span_places import PlaceFinder, SpanRun
from evaluation.types import CellKey


def write_spans(session: Session, path: Path, *, shard: ExperimentShard | None = None) -> int:
    """Write the rankings of every finished cell of a run, each under the cell's name, and return their number."""
    offsets = offset_specs(session)
    whole = with_offsets(session, offsets)
    own = cells_at_offsets(whole, share_of(session.cells, shard), offsets)
    cells = [cell for cell in own if whole.store.has(whole.score_key(cell))]
    others = session.span_runs
    rows = itertools.chain(
        (row for cell in cells for row in cell_rows(whole, cell)),
        (row for key, run in others.items() for row in span_rows(session, key, run)),
    )
    try:
        replace_lines(path, (json.dumps(row) + "\n" for row in rows))
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror or error}): name another file") from None
    return len(cells) + len(others)


def run_name(cell: CellKey) -> str:
    """Return the run name of a cell's rankings in a file: its chunker, embedder and retriever, or the tool's name."""
    return cell.chunker if cell.is_span_run else " · ".join(cell[1:])


def cell_rows(session: Session, cell: CellKey) -> Iterator[dict[str, Any]]:
    """Yield a cell's rankings, one row per place; bytes are authoritative, lines are for human readers."""
    loaded, chunks = session.dataset(cell.dataset), stages.chunk(session, cell.dataset, cell.chunker)
    shared = _shared(session, cell)
    for query_id, hits in stages.retrieve(session, cell).ranking.items():
        for rank, hit in enumerate(hits, start=1):
            yield {"query_id": query_id, "rank": rank, **_place(chunks, hit.position, loaded), **shared}


def span_rows(session: Session, cell: CellKey, run: SpanRun) -> Iterator[dict[str, Any]]:
    """Yield the rankings of a tool or another file, one row per place."""
    finder, shared = PlaceFinder(session.dataset(cell.dataset)), _shared(session, cell)
    for query_id, places in run.places.items():
        for rank, place in enumerate(places, start=1):
            span = finder.lines(place)
            tokens = {} if place.header_tokens is None else {"header_tokens": place.header_tokens}
            where = {"repo": place.file.repo, "file": place.file.path, **span._asdict()}
            yield {"query_id": query_id, "rank": rank, **where, **_header(place.header), **tokens, **shared}


def _shared(session: Session, cell: CellKey) -> dict[str, str]:
    about = {"dataset": cell.dataset} if len(session.config.datasets) > 1 else {}
    return {"run": run_name(cell), **about}


def _place(chunks: ChunkTable, row: int, loaded: LoadedDataset) -> dict[str, Any]:
    columns = chunks.columns
    file = chunks.files[columns["file"][row]]
    bounds = {"start_line": "start_line", "end_line": "end_line", "start_byte": "start", "end_byte": "end"}
    place = {name: int(columns[column][row]) for name, column in bounds.items()}
    return {"repo": file.repo, "file": file.path, **place, **_header(chunks.header(row, loaded))}


def _header(header: str) -> dict[str, Any]:
    """Return the header, or only its tokens if it holds bytes that are not text."""
    if not header:
        return {}
    try:
        header.encode()
    except UnicodeEncodeError:
        return {"header_tokens": header_cost(header, "tokens")}
    return {"header": header}
