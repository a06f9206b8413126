"""cAST's protocol for one cell: its rankings projected onto a reference chunker's chunks, and scored there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.qrels import placed
from evaluation.experiment.session import Session
from evaluation.measures.evaluate import column, evaluate
from evaluation.measures.registry import parse_measure
from evaluation.types import Case, CellKey
from ground_truth.line_axis import ChunkLines
from ground_truth.overlap import make_qrels
from ground_truth.projection import Aggregation, Projection
from ground_truth.spans import corpus_lines


def score_projected(
    session: Session,
    cell: CellKey,
    *,
    reference: str,
    measures: Sequence[str],
    aggregation: Aggregation = "max",
) -> dict[str, np.ndarray]:
    """Return measure → one value per query: the cell's rankings on the ids of the reference chunker."""
    own, other = (stages.chunk(session, cell.dataset, chunker) for chunker in (cell.chunker, reference))
    ranking = stages.retrieve(session, cell).ranking
    dataset = session.dataset(cell.dataset).dataset
    lines = corpus_lines(dataset)
    target = ChunkLines.of(lines, placed(other))
    projection = Projection(ChunkLines.of(lines, placed(own)), target)
    judged = make_qrels(session.rule, dataset.queries, dataset.annotations, target).grades
    cases = [
        Case(
            query_id=query.id,
            ranking=[
                found.id
                for found in projection.rank(
                    [(own.ids[hit.position], hit.score) for hit in ranking[query.id]], aggregation=aggregation
                )
            ],
            grades=judged[query.id],
        )
        for query in dataset.queries
    ]
    chosen = [parse_measure(name) for name in measures]
    scores = evaluate(chosen, cases)
    return {measure.name: column(scores, measure.name) for measure in chosen}
