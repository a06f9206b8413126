"""Scores of a random and of a perfect ranking of the same chunks: the same for every retriever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluation.experiment.cases import CaseBuilder
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.qrels import qrels_of
from evaluation.experiment.scoring import Scoring
from evaluation.measures.chance import has_chance
from evaluation.measures.levels import levels_of
from evaluation.statistics import Weight
from evaluation.statistics.samples import weighted_means

_BLOCK = 500


class Levels(NamedTuple):
    """Measure → mean, for a random ranking and for a perfect one."""

    chance: dict[str, float]
    ceiling: dict[str, float]


def chunk_levels(how: Scoring, loaded: LoadedDataset, chunks: ChunkTable, *, weight: Weight = "repository") -> Levels:
    """Return both levels of every measure that has them, averaged as the scores are that stand between them."""
    measures = [measure for measure in how.measures if has_chance(measure)]
    needs = frozenset(need for measure in measures for need in measure.needs) - {"vectors"}
    builder = CaseBuilder(
        loaded,
        chunks,
        qrels_of(how.rule, loaded, chunks, mixed=how.insist),
        needs=needs | {"text", "space"},
        units={unit for measure in measures for unit in measure.units},
        embed=how.embed,
        depth=how.depth,
    )
    queries = loaded.dataset.queries
    found: dict[str, list[np.ndarray]] = {measure.name: [] for measure in measures}
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK]
        cases = builder.cases(block, {query.id: [] for query in block})
        for measure in measures:
            found[measure.name].append(np.stack(levels_of(measure, cases)))
    clusters = [query.cluster for query in queries]
    means = {
        name: weighted_means(np.concatenate(parts, axis=1), clusters, weight=weight) for name, parts in found.items()
    }
    return Levels(*({name: float(mean[level]) for name, mean in means.items()} for level in (0, 1)))


def save_levels(levels: Levels, folder: Path) -> None:
    """Write the levels as JSON."""
    (folder / "levels.json").write_text(json.dumps(levels._asdict(), indent=1), "utf-8")


def load_levels(folder: Path) -> Levels:
    """Read levels written by `save_levels`."""
    return Levels(**json.loads((folder / "levels.json").read_text("utf-8")))
