"""Means with intervals and paired comparisons, made from the per-query scores of a results value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.measures import parse_measure
from evaluation.results.types import CellRecord, Results
from evaluation.statistics.compare import compare_pairs
from evaluation.statistics.intervals import mean_interval


def with_statistics(results: Results) -> Results:
    """Return the results with intervals for every cell and comparisons of the chunkers for every measure."""
    cells = tuple(_with_intervals(results, cell) for cell in results.cells)
    return replace(results, cells=cells, comparisons=tuple(_comparisons(replace(results, cells=cells))))


def _with_intervals(results: Results, cell: CellRecord) -> CellRecord:
    clusters = [query.cluster for query in results.queries_of(cell.key.dataset)]
    seed = results.config["seed"]
    measures = {}
    for name, values in cell.scores.items():
        interval = mean_interval(values, clusters, seed=seed)
        least, most = parse_measure(name).range
        measures[name] = {
            "mean": _number(interval.mean),
            # With few queries Student's t reaches beyond what the measure can be.
            "low": _number(max(interval.low, least)),
            "high": _number(min(interval.high, most)),
            "method": interval.method,
            "scored": interval.n,
            "undefined": interval.undefined,
            "caveat": interval.caveat,
        }
    return replace(cell, measures=measures)


def _comparisons(results: Results) -> list[Mapping[str, Any]]:
    """Compare chunkers within each dataset, embedder and retriever, on the same queries."""
    config = results.config
    groups: dict[tuple[str, str, str], list[CellRecord]] = {}
    for cell in results.cells:
        if cell.status == "ok":
            groups.setdefault((cell.key.dataset, cell.key.embedder, cell.key.retriever), []).append(cell)
    rows: list[Mapping[str, Any]] = []
    for (dataset, embedder, retriever), cells in groups.items():
        if len(cells) < 2:
            continue
        clusters = [query.cluster for query in results.queries_of(dataset)]
        names = [cell.key.chunker for cell in cells]
        family = config.get("baseline") if config.get("baseline") in names else "all"
        for measure in config["measures"]:
            scores = np.array([cell.scores[measure] for cell in cells])
            found = compare_pairs(
                scores,
                clusters,
                names=names,
                family=family or "all",
                flips=config["flips"],
                seed=config["seed"],
                test=config.get("test", "sign-flip"),
            )
            where = {"dataset": dataset, "embedder": embedder, "retriever": retriever, "measure": measure}
            rows += [where | {key: _plain(value) for key, value in each.row().items()} for each in found]
    return rows


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | None:
    """Return the number, or None where it is undefined: JSON has no NaN."""
    return None if math.isnan(value) else float(value)
