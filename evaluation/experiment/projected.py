"""cAST's protocol for one cell: its rankings projected onto a reference chunker's chunks, and scored there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.relevance import placed
from evaluation.experiment.stages import Ranking, Workbench
from evaluation.measures.evaluate import column, evaluate
from evaluation.measures.registry import parse_measure
from evaluation.types import Case, CellKey
from ground_truth.line_axis import ChunkLines
from ground_truth.overlap import make_qrels
from ground_truth.projection import Aggregation, Projection
from ground_truth.rules import parse_rule
from ground_truth.spans import corpus_lines


def score_projected(
    bench: Workbench,
    snapshot: LoadedDataset,
    cell: CellKey,
    *,
    reference: str,
    measures: Sequence[str],
    aggregation: Aggregation = "max",
) -> dict[str, np.ndarray]:
    """Return measure → one value per query: the cell's rankings on the ids of the reference chunker."""
    own: ChunkTable = stages.chunk(bench, snapshot, cell.chunker).value
    other: ChunkTable = stages.chunk(bench, snapshot, reference).value
    ranking: Ranking = stages.retrieve(bench, snapshot, cell).value.ranking
    dataset = snapshot.dataset
    lines = corpus_lines(dataset.repositories)
    target = ChunkLines.of(lines, placed(other))
    projection = Projection(ChunkLines.of(lines, placed(own)), target)
    judged = make_qrels(parse_rule(bench.config.rule), dataset.queries, dataset.annotations, target).grades
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
