"""What competes for each query: the passages that come first when one candidate searches everything."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.session import Session
from evaluation.recommend.field import Runner
from evaluation.recommend.sampling import DEPTHS, Passage
from evaluation.types import CellKey
from ground_truth.spans import annotated_lines, gold_spans
from ground_truth.types import Dataset
from indexing.types import Hit

_USUAL = 1500.0
"""Mean size of a chunk, in nws, of the candidate that searches first: it has few texts, and no passage is very long."""


def scouts(runners: Sequence[Runner]) -> list[Runner]:
    """Return who may search first, the most suitable before the others."""
    return sorted(runners, key=lambda runner: (abs(runner.mean_nws - _USUAL), runner.candidate.spec))


def competing(session: Session, cell: CellKey) -> dict[str, list[Passage]]:
    """Return what comes first for each query, best first, up to the largest depth that a round looks at."""
    table = stages.chunk(session, cell.dataset, cell.chunker)
    ranking = stages.retrieve(session, cell).ranking
    return {name: _first(table, hits) for name, hits in ranking.items()}


def _first(table: ChunkTable, hits: Sequence[Hit]) -> list[Passage]:
    shown: list[Passage] = []
    for hit in hits:
        if sum(part.tokens for part in shown) >= DEPTHS[-1]:
            break
        shown.append(_passage(table, hit.position))
    return shown


def _passage(table: ChunkTable, row: int) -> Passage:
    columns = table.columns
    file = table.files[columns["file"][row]]
    start, end, tokens = (int(columns[name][row]) for name in ("start", "end", "tokens"))
    return Passage((file.repo, file.path), start, end, tokens)


def answers(dataset: Dataset) -> dict[str, list[Passage]]:
    """Return the gold of each query."""
    notes = [note for note in dataset.annotations if note.grade > 0]
    found = gold_spans(notes, annotated_lines(dataset))
    return {
        name: [Passage((span.repo, span.path), span.start_byte, span.end_byte) for span in spans]
        for name, spans in found.items()
    }
