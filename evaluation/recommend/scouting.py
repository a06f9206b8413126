"""Scouts: a few candidates search everything first, to see what competes for each query and what passages hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.session import Session
from evaluation.recommend.field import Runner
from evaluation.recommend.sampling import Passage, by_rank
from evaluation.types import CellKey
from ground_truth.spans import annotated_lines, gold_spans
from ground_truth.types import Dataset

_SIZES = (1500.0, 500.0, 4000.0)
"""Mean sizes of chunks, in nws: a middling one, and others to see what size changes; smaller ones have many texts."""
_SHARE = 0.08
"""The part of all candidates' texts that the scouts may have; the first one may have more."""
_DEPTH = 8000
"""Tokens that are looked at of what comes first for a query."""


def scouts(runners: Sequence[Runner]) -> list[Runner]:
    """Return who searches first: one family at several sizes, then every other family at its largest.

    The first one is always there, the others as long as they have few texts.
    """
    families: dict[str, list[Runner]] = {}
    for runner in runners:
        families.setdefault(runner.candidate.family, []).append(runner)
    # The family that comes nearest to all sizes: what differs between its scouts is their size alone.
    widest = min(families.values(), key=lambda each: sum(_distance(_nearest(each, size), size) for size in _SIZES))
    several = [each for each in families.values() if len(each) > 1 and each is not widest]
    largest = [min(each, key=lambda runner: (runner.chunks, runner.candidate.spec)) for each in several]
    found: dict[str, Runner] = {}
    room = _SHARE * sum(runner.chunks for runner in runners)
    for runner in [*(_nearest(widest, size) for size in _SIZES), *largest]:
        if runner.candidate.spec not in found and (not found or runner.chunks <= room):
            found[runner.candidate.spec] = runner
            room -= runner.chunks
    return list(found.values())


def _nearest(runners: Sequence[Runner], size: float) -> Runner:
    return min(runners, key=lambda runner: (_distance(runner, size), runner.candidate.spec))


def _distance(runner: Runner, size: float) -> float:
    return abs(float(np.log(max(runner.mean_nws, 1.0) / size)))


def competing(session: Session, cells: Sequence[CellKey]) -> dict[str, list[Passage]]:
    """Return what comes first for each query, best first, the scouts' findings in turn."""
    rankings = [_first(session, cell) for cell in cells[: len(_SIZES)]]
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
