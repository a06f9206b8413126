"""Means with intervals and paired comparisons, made from the per-query scores of a results value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evaluation.measures import Measure, parse_measure
from evaluation.measures.evaluate import median
from evaluation.results.document import json_number
from evaluation.results.types import CellRecord, ComparisonRecord, MeasureSummary, Results
from evaluation.statistics.compare import compare_pairs
from evaluation.statistics.intervals import mean_interval


def with_statistics(results: Results) -> Results:
    """Return the results with intervals for every cell and comparisons of the chunkers for every measure."""
    cells = tuple(_with_intervals(results, cell) for cell in results.cells)
    return replace(results, cells=cells, comparisons=tuple(_comparisons(replace(results, cells=cells))))


def _with_intervals(results: Results, cell: CellRecord) -> CellRecord:
    clusters = [query.cluster for query in results.queries_of(cell.key.dataset)]
    measures = {}
    for name, values in cell.scores.items():
        measure = parse_measure(name)
        if measure.centre == "median":
            measures[name] = _median_summary(measure, values)
            continue
        least, most = measure.range
        interval = mean_interval(values, clusters, value_range=(least, most))
        measures[name] = MeasureSummary(
            mean=json_number(interval.mean),
            # With few queries Student's t reaches beyond what the measure can be.
            low=json_number(max(interval.low, least)),
            high=json_number(min(interval.high, most)),
            method=interval.method,
            scored=interval.n,
            undefined=interval.undefined,
            caveat=interval.caveat,
        )
    return replace(cell, measures=measures)


def _median_summary(measure: Measure, values: np.ndarray) -> MeasureSummary:
    """Return the median over all queries and the count of those that got there: a mean over them would flatter."""
    reached = int(np.sum(~np.isnan(values)))
    return MeasureSummary(
        mean=None,
        low=None,
        high=None,
        method="median",
        scored=reached,
        undefined=len(values) - reached,
        caveat=f"{reached} of {len(values)} queries get there",
        median=json_number(median(measure, values)),
    )


def _comparisons(results: Results) -> Iterator[ComparisonRecord]:
    """Compare chunkers within each dataset, embedder and retriever, on the same queries."""
    config = results.config
    groups: dict[tuple[str, str, str], list[CellRecord]] = {}
    for cell in results.cells:
        if cell.status == "ok":
            groups.setdefault((cell.key.dataset, cell.key.embedder, cell.key.retriever), []).append(cell)
    for (dataset, embedder, retriever), cells in groups.items():
        if len(cells) < 2:
            continue
        clusters = [query.cluster for query in results.queries_of(dataset)]
        names = [cell.key.chunker for cell in cells]
        family = config.baseline if config.baseline in names else None
        for measure in config.measures:
            if parse_measure(measure).centre == "median":
                continue  # differences exist only where both got there, and their mean would hide who did not
            found = compare_pairs(
                np.array([cell.scores[measure] for cell in cells]),
                clusters,
                names=names,
                family=family or "all",
                flips=config.flips,
                seed=config.seed,
                test=config.test,
                higher_is_better=parse_measure(measure).direction == "higher",
                value_range=parse_measure(measure).range,
            )
            yield from (ComparisonRecord(dataset, embedder, retriever, measure, each) for each in found)
