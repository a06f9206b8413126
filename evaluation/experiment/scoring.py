"""From rankings to per-query scores and what is reported beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.cases import CaseBuilder
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.columns import numbers
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.qrels import qrels_of
from evaluation.experiment.reading_cost import READING_MEASURES, ReadingCost, reading_cost
from evaluation.experiment.visible_chunks import visible_sizes
from evaluation.measures.curve import recall_curves
from evaluation.measures.evaluate import evaluate
from evaluation.measures.measure import Measure
from evaluation.results.facts import JudgementFacts, TokensRead
from ground_truth.rules import Rule
from ground_truth.types import Qrels
from indexing.types import Hit

BLOCK = 500
CURVE_UNIT: SizeUnit = "tokens"


@dataclass(frozen=True)
class Scored:
    """One cell's scores, in the order of the dataset's queries."""

    query_ids: Sequence[str]
    scores: Mapping[str, np.ndarray]
    curve: np.ndarray
    qrels: Qrels
    facts: JudgementFacts
    reading: ReadingCost


@dataclass(frozen=True)
class Scoring:
    """How rankings are scored."""

    measures: Sequence[Measure]
    rule: Rule
    insist: bool
    """Whether kinds of relevance that do not compare chunkers are allowed."""
    budgets: Sequence[int]
    """Points of the recall curve, in tokens."""
    depth: int
    """Results searched per query."""
    embed: Callable[[Sequence[str]], np.ndarray]
    """Texts of chunks → their vectors."""


def score_ranking(
    how: Scoring, loaded: LoadedDataset, chunks: ChunkTable, ranking: Mapping[str, Sequence[Hit]]
) -> Scored:
    """Score every query of the dataset; a query whose gold no chunk holds scores 0 and is counted."""
    measures = how.measures
    needs = frozenset(need for measure in measures for need in measure.needs)
    units = {unit for measure in measures for unit in measure.units} | {CURVE_UNIT}
    judgements = qrels_of(how.rule, loaded, chunks, mixed=how.insist)
    depths = [measure.cutoff or how.depth for measure in measures if "vectors" in measure.needs]
    builder = CaseBuilder(
        loaded,
        chunks,
        judgements,
        needs=needs | {"text"},
        units=units,
        embed=how.embed,
        depth=how.depth,
        vector_depth=max(depths, default=0),
    )
    queries = loaded.dataset.queries
    asked = list(dict.fromkeys((*measures, *READING_MEASURES)))
    columns: dict[str, list[float]] = {measure.name: [] for measure in asked}
    curves: list[np.ndarray] = []
    tokens = visible_sizes(loaded, chunks, "tokens")
    behind: dict[int, list[int]] = {5: [], 10: []}
    for start in range(0, len(queries), BLOCK):
        cases = builder.cases(queries[start : start + BLOCK], ranking)
        scores = evaluate(asked, cases)
        curves.append(recall_curves(cases, unit=CURVE_UNIT, budgets=how.budgets))
        for case in cases:
            for name, values in columns.items():
                values.append(scores[case.query_id][name])
            for k, sums in behind.items():
                sums.append(int(tokens[[hit.position for hit in ranking[case.query_id][:k]]].sum()))
    scored = {name: np.array(values, dtype=np.float64) for name, values in columns.items()}
    return Scored(
        query_ids=[query.id for query in queries],
        scores={measure.name: scored[measure.name] for measure in measures},
        curve=np.concatenate(curves),
        qrels=judgements.qrels,
        facts=JudgementFacts(
            uncovered_queries=len(judgements.uncovered),
            queries_with_relevant=len(judgements.qrels) - len(judgements.uncovered),
            exact_matches=judgements.exact_matches,
            strategy_used=judgements.strategy_used,
            strategy_counts=judgements.strategy_counts,
            relevant_per_query=float(np.mean([len(grades) for grades in judgements.qrels.values()])),
            tokens_at={str(k): float(np.mean(sums)) for k, sums in behind.items()},
        ),
        reading=reading_cost(scored, budgets=how.budgets),
    )


def save_scored(scored: Scored, folder: Path) -> None:
    """Write the scores as plain files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"query_id": pa.array(scored.query_ids, pa.string())}
    columns |= {name: pa.array(values) for name, values in scored.scores.items()}
    pq.write_table(pa.table(columns), folder / "scores.parquet")
    np.save(folder / "curve.npy", scored.curve, allow_pickle=False)
    (folder / "qrels.json").write_text(json.dumps(scored.qrels), "utf-8")
    (folder / "facts.json").write_text(json.dumps(asdict(scored.facts)), "utf-8")
    (folder / "reading.json").write_text(json.dumps([asdict(each) for each in scored.reading]), "utf-8")


def load_scored(folder: Path) -> Scored:
    """Read scores written by `save_scored`."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(folder / "scores.parquet").read()
    return Scored(
        query_ids=table["query_id"].to_pylist(),
        scores={name: numbers(table[name]) for name in table.column_names if name != "query_id"},
        curve=np.load(folder / "curve.npy", allow_pickle=False),
        qrels=json.loads((folder / "qrels.json").read_text("utf-8")),
        facts=JudgementFacts(**json.loads((folder / "facts.json").read_text("utf-8"))),
        reading=ReadingCost(*(TokensRead(**each) for each in json.loads((folder / "reading.json").read_text("utf-8")))),
    )
