"""Means with intervals, comparisons and sets of best alternatives, computed from per-query scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.config import ExperimentConfig
from evaluation.measures import Measure, parse_measure
from evaluation.measures.declared import recall
from evaluation.measures.evaluate import median
from evaluation.results.axes import Alternatives, alternatives
from evaluation.results.document import json_number
from evaluation.results.overall import overall
from evaluation.results.types import BestRecord, CellRecord, ComparisonRecord, MeasureSummary, Results
from evaluation.statistics import Weight, best_set, compare_pairs, mean_interval


def with_statistics(results: Results) -> Results:
    """Return the results with intervals for every cell, and comparisons of cells that differ in one axis."""
    recall(results.own_measures)
    results = replace(results, cells=tuple(_with_intervals(results, cell) for cell in results.cells))
    groups = list(alternatives(results.cells))
    return replace(
        results,
        comparisons=tuple(record for group in groups for record in _compare(results, group)),
        best=tuple(record for group in groups for record in _best(results, group)),
        overall=overall(results),
    )


def without_fixed_means(results: Results) -> Results:
    """Return the results without the means that cannot be computed again: those under another weight are unknown."""
    cells = (
        replace(cell, judgements=replace(cell.judgements, chance={}, ceiling={}), offsets=()) for cell in results.cells
    )
    return replace(results, cells=tuple(cells))


def margin_of(measure: Measure, config: ExperimentConfig, mean: float) -> float:
    """Return the margin in the measure's own unit: points for a share, else that percentage of the mean."""
    return config.margin / 100 * (1.0 if measure.unit == "share" else abs(mean))


def statistics_options(measure: Measure, config: ExperimentConfig) -> dict[str, Any]:
    """Return the options of every procedure for a measure and an experiment."""
    return {
        "weight": config.weight,
        "higher_is_better": None if measure.direction == "none" else measure.direction == "higher",
        "value_range": measure.range,
        "test": config.test,
        "flips": config.flips,
        "seed": config.seed,
    }


def _with_intervals(results: Results, cell: CellRecord) -> CellRecord:
    clusters = results.clusters_of(cell.key.dataset)
    other: Weight = "query" if results.config.weight == "repository" else "repository"
    measures = {}
    for name, values in cell.scores.items():
        measure = parse_measure(name)
        if measure.centre == "median":
            measures[name] = _median_summary(measure, values)
            continue
        interval = mean_interval(values, clusters, weight=results.config.weight, value_range=measure.range)
        least, most = measure.range
        measures[name] = MeasureSummary(
            mean=json_number(interval.mean),
            # With few queries, Student's t exceeds the range of the measure.
            low=json_number(max(interval.low, least)),
            high=json_number(min(interval.high, most)),
            method=interval.method,
            scored=interval.n,
            undefined=interval.undefined,
            caveat=interval.caveat,
            other_mean=json_number(mean_interval(values, clusters, weight=other).mean),
        )
    return replace(cell, measures=measures)


def _median_summary(measure: Measure, values: np.ndarray) -> MeasureSummary:
    """Return the median over all queries and the number that got there: a mean over those would flatter."""
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


def _compare(results: Results, group: Alternatives) -> Iterator[ComparisonRecord]:
    config, clusters = results.config, results.clusters_of(group.setting.dataset)
    for name, (names, scores) in _scored(config, group):
        measure = parse_measure(name)
        family = config.baseline if group.axis == "chunker" and config.baseline in names else "all"
        found = compare_pairs(
            scores,
            clusters,
            names=names,
            family=family or "all",
            margin=margin_of(measure, config, _mean(scores)),
            **statistics_options(measure, config),
        )
        yield from (ComparisonRecord(group.axis, *group.setting, name, each) for each in found)


def _best(results: Results, group: Alternatives) -> Iterator[BestRecord]:
    clusters = results.clusters_of(group.setting.dataset)
    for name, (names, scores) in _scored(results.config, group):
        measure = parse_measure(name)
        if measure.direction == "none":
            continue
        options = statistics_options(measure, results.config)
        found = best_set(scores, clusters, names=names, **options)
        yield BestRecord(group.axis, *group.setting, name, found)


def _scored(config: ExperimentConfig, group: Alternatives) -> Iterator[tuple[str, tuple[list[str], np.ndarray]]]:
    """Yield each measure with the names and scores of the cells that have it: span runs have none on chunk ids."""
    for name in _compared(config):
        both = zip(group.names, group.cells, strict=True)
        scores = {key: cell.scores[name] for key, cell in both if name in cell.scores}
        if len(scores) > 1:
            yield name, (list(scores), np.array(list(scores.values())))


def _compared(config: ExperimentConfig) -> list[str]:
    """Return the measures with a mean: for a median, differences exist only for queries where both got there."""
    return [name for name in config.measures if parse_measure(name).centre != "median"]


def _mean(scores: np.ndarray) -> float:
    defined = scores[~np.isnan(scores)]
    return float(defined.mean()) if len(defined) else 0.0
