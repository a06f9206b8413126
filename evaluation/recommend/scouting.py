"""Scouts: a few candidates search everything first, to see what competes for each query and what passages hide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.session import Session
from evaluation.recommend.field import Runner
from evaluation.recommend.sampling import Passage, by_rank
from evaluation.types import CellKey
from ground_truth.spans import annotated_lines, gold_spans
from ground_truth.types import Dataset

_SIZES = (1500.0, 500.0, 4000.0)
"""Mean sizes of chunks, in nws: a medium, a small and a large one; smaller ones have many texts."""
_DEPTH = 8000
"""Tokens of the top results of a query that are considered."""


def scouts(runners: Sequence[Runner]) -> list[Runner]:
    """Return the scouts: one family at several sizes.

    It is the one that comes nearest to all sizes with few tokens: overlap and headers make scouts expensive.
    """
    families: dict[str, list[Runner]] = {}
    for runner in runners:
        families.setdefault(runner.candidate.family, []).append(runner)
    chosen = min(([_nearest(each, size) for size in _SIZES] for each in families.values()), key=_effort)
    return list({runner.candidate.spec: runner for runner in chosen}.values())


def _effort(chosen: Sequence[Runner]) -> float:
    """Return the distance of some runners from the target sizes, and their number of tokens: both as logarithms."""
    tokens = sum(runner.tokens for runner in chosen)
    return sum(map(_distance, chosen, _SIZES)) + float(np.log(tokens))


def around(runners: Iterable[Runner], scouts: Sequence[Runner]) -> dict[str, str]:
    """Return for each candidate the scout nearest in size."""
    return {runner.candidate.spec: _nearest(scouts, max(runner.mean_nws, 1.0)).candidate.spec for runner in runners}


def _nearest(runners: Sequence[Runner], size: float) -> Runner:
    return min(runners, key=lambda runner: (_distance(runner, size), runner.candidate.spec))


def _distance(runner: Runner, size: float) -> float:
    return abs(float(np.log(max(runner.mean_nws, 1.0) / size)))


def competing(session: Session, cells: Sequence[CellKey]) -> dict[str, list[Passage]]:
    """Return the top results of each query, best first, alternating between scouts."""
    rankings = [_first(session, cell) for cell in cells]
    return {name: by_rank([ranking.get(name, []) for ranking in rankings]) for name in rankings[0]}


def _first(session: Session, cell: CellKey) -> dict[str, list[Passage]]:
    """Return what one scout read first for each query."""
    table = stages.chunk(session, cell.dataset, cell.chunker)
    files, starts, ends, tokens = (table.columns[name] for name in ("file", "start", "end", "tokens"))
    found: dict[str, list[Passage]] = {}
    for name, hits in stages.retrieve(session, cell).ranking.items():
        rows = np.array([hit.position for hit in hits], dtype=np.int64)
        read = np.cumsum(tokens[rows]) - tokens[rows]
        found[name] = [
            Passage((table.files[files[row]].repo, table.files[files[row]].path), int(starts[row]), int(ends[row]))
            for row in rows[read < _DEPTH].tolist()
        ]
    return found


def answers(dataset: Dataset) -> dict[str, list[Passage]]:
    """Return the gold of each query."""
    notes = [note for note in dataset.annotations if note.grade > 0]
    found = gold_spans(notes, annotated_lines(dataset))
    return {
        name: [Passage((span.repo, span.path), span.start_byte, span.end_byte) for span in spans]
        for name, spans in found.items()
    }
