"""Several runs of parts of one experiment, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig
from evaluation.results.facts import DatasetRecord
from evaluation.results.types import CellRecord, QueryRecord, Results
from evaluation.types import CellKey


def merge_results(parts: Iterable[Results]) -> Results:
    """Return the cells of several runs as one; the same cell twice must have the same scores."""
    parts = list(parts)
    first = parts[0]
    for part in parts:
        if set(part.config.measures) != set(first.config.measures):
            raise UsageError(
                "the runs have different measures: merge parts of one experiment, or run one of them again"
            )
        if (part.budgets, part.budget_unit) != (first.budgets, first.budget_unit):
            raise UsageError("the runs have different budgets: merge parts of one experiment, or run one of them again")
    datasets: dict[str, DatasetRecord] = {}
    cells: dict[CellKey, CellRecord] = {}
    queries: dict[tuple[str, str], QueryRecord] = {}
    texts: dict[str, str] = {}
    for part in parts:
        for dataset in part.datasets:
            known = datasets.setdefault(dataset.name, dataset)
            if known.fingerprint != dataset.fingerprint:
                raise UsageError(
                    f"the runs saw different versions of dataset {dataset.name!r}: run them again on one snapshot"
                )
        for cell in part.cells:
            known_cell = cells.get(cell.key)
            if known_cell is None or known_cell.status == "failed":
                cells[cell.key] = cell
            elif cell.status == "ok" and not _same_scores(known_cell, cell):
                raise UsageError(f"two runs disagree about {' × '.join(cell.key)}: their versions differ")
        queries.update({(query.dataset, query.id): query for query in part.queries})
        texts.update(part.texts)
    chunkers = {cell.key.chunker for cell in cells.values()}
    listed = [chunker for part in parts for chunker in part.config.chunkers if chunker in chunkers]
    config = first.config.model_copy(update={"chunkers": tuple(dict.fromkeys([*listed, *sorted(chunkers)]))})
    return replace(
        first,
        config=config,
        datasets=tuple(datasets.values()),
        cells=tuple(cells[key] for key in _in_order(cells, [part.config for part in parts])),
        comparisons=(),
        queries=tuple(queries.values()),
        texts=texts,
        shard=None,
    )


def _in_order(cells: Iterable[CellKey], configs: Sequence[ExperimentConfig]) -> list[CellKey]:
    """Return the cells in the order in which one run of these experiments would have had them."""
    places = [
        {
            spec: place
            for place, spec in reversed(list(enumerate(spec for each in configs for spec in getattr(each, axis))))
        }
        for axis in ("datasets", "chunkers", "embedders", "retrievers")
    ]
    return sorted(
        cells, key=lambda key: [(place.get(part, len(place)), part) for part, place in zip(key, places, strict=True)]
    )


def _same_scores(one: CellRecord, other: CellRecord) -> bool:
    return one.scores.keys() == other.scores.keys() and all(
        np.array_equal(values, other.scores[name], equal_nan=True) for name, values in one.scores.items()
    )
