"""Finished cells and their queries, as the results store them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from chunkers.languages import language_of
from chunkers.writable import valid_text
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.hit_costs import HITS_SHOWN, chunk_costs
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.reading_cost import ReadingCost
from evaluation.experiment.session import Session
from evaluation.experiment.shown_texts import ShownSpan
from evaluation.prices import price_of
from evaluation.results.facts import CostFacts
from evaluation.results.types import CellRecord, GoldLines, HitRecord, QueryRecord
from evaluation.types import CellKey
from ground_truth.types import Annotation


class FinishedCell(NamedTuple):
    """A cell's record, and where the texts of its displayed results are."""

    record: CellRecord
    shown: Mapping[str, ShownSpan] = MappingProxyType({})
    """By chunk or place id."""


def cell_record(session: Session, cell: CellKey) -> FinishedCell:
    """Return the finished cell, read from the store."""
    loaded = session.dataset(cell.dataset)
    scored, seconds = stages.score(session, cell)
    chunks = stages.chunk(session, cell.dataset, cell.chunker)
    retrieved = stages.retrieve(session, cell)
    ranking = retrieved.ranking
    best = {query_id: found[:HITS_SHOWN] for query_id, found in ranking.items()}
    costs = chunk_costs(loaded, chunks, [[hit.position for hit in found] for found in best.values()])
    hits = {
        query_id: tuple(
            _hit(chunks, hit.position, rank=rank, score=hit.score, tokens=tokens)
            for rank, (hit, tokens) in enumerate(zip(found, read, strict=True), start=1)
        )
        for (query_id, found), read in zip(best.items(), costs, strict=True)
    }
    record = CellRecord(
        key=cell,
        status="ok",
        cost=_cost(session, cell, reading=scored.reading),
        chunks=chunks.facts,
        search=retrieved.facts,
        judgements=replace(scored.facts, **stages.levels(session, cell.dataset, cell.chunker)._asdict()),
        seconds={name: round(value, 3) for name, value in seconds.items()},
        scores=scored.scores,
        curve=scored.curve,
        hits=hits,
        run={query_id: [chunks.ids[hit.position] for hit in found] for query_id, found in ranking.items()},
        qrels=scored.qrels,
    )
    shown = sorted({hit.position for found in best.values() for hit in found})
    return FinishedCell(record, {chunks.ids[row]: _span(cell.dataset, chunks, row) for row in shown})


def _cost(session: Session, cell: CellKey, *, reading: ReadingCost) -> CostFacts:
    """Return the cell's cost, including reading cost and the price of its tokens where the user gave one."""
    chunks, cost = stages.chunk(session, cell.dataset, cell.chunker), stages.retrieve(session, cell).cost
    parts = (chunks.seconds, cost.embed_seconds, cost.index_seconds)
    known = [part for part in parts if part is not None]
    price = price_of(session.config.run.price, cell.embedder)
    tokens = cost.tokens_embedded
    return replace(
        cost,
        **reading._asdict(),
        build_seconds=sum(known) if len(known) == len(parts) else None,
        price=None if price is None or tokens is None else price * tokens / 1e6,
    )


def query_records(loaded: LoadedDataset) -> Iterator[QueryRecord]:
    """Yield the dataset's queries with their gold lines."""
    gold: dict[str, list[Annotation]] = {}
    for note in loaded.dataset.annotations:
        gold.setdefault(note.query_id, []).append(note)
    for query in loaded.dataset.queries:
        notes = gold.get(query.id, [])
        yield QueryRecord(
            dataset=loaded.spec,
            id=query.id,
            text=valid_text(query.text),
            repo=query.repo,
            cluster=query.cluster,
            language=query.language or _most_gold(notes),
            gold=tuple(GoldLines(note.path, note.start_line, note.end_line) for note in notes),
            kind=query.kind,
            category=query.category,
        )


def _most_gold(notes: Sequence[Annotation]) -> str | None:
    """Return the language of most of the gold lines; on a tie, the one annotated first."""
    lines: Counter[str] = Counter()
    for note in notes:
        language = language_of(note.path)
        if language is not None:
            lines[language] += note.end_line - note.start_line + 1
    return max(lines, key=lambda language: lines[language], default=None)


def _hit(chunks: ChunkTable, row: int, *, rank: int, score: float, tokens: int) -> HitRecord:
    columns = chunks.columns
    return HitRecord(
        rank=rank,
        chunk_id=chunks.ids[row],
        score=score,
        path=chunks.files[columns["file"][row]].path,
        start_line=int(columns["start_line"][row]),
        end_line=int(columns["end_line"][row]),
        tokens=tokens,
    )


def _span(dataset: str, chunks: ChunkTable, row: int) -> ShownSpan:
    columns = chunks.columns
    file = chunks.files[columns["file"][row]]
    return ShownSpan(dataset, file, int(columns["start"][row]), int(columns["end"][row]))
