"""Span runs alone, scored and compared: the results of an experiment without chunkers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chunkers.errors import UsageError
from chunkers.tokens import usable_cache
from evaluation.config import make_config
from evaluation.experiment import stages
from evaluation.experiment.contestants import span_record
from evaluation.experiment.environment import environment
from evaluation.experiment.loaded_dataset import LoadedDataset, load_dataset
from evaluation.experiment.records import query_records
from evaluation.experiment.session import Session
from evaluation.experiment.span_places import Place, PlaceError, PlaceFinder, SpanRun
from evaluation.experiment.span_runs import NamedFile, read_span_runs
from evaluation.experiment.span_scoring import scores_spans, span_units
from evaluation.measures.chance import has_chance
from evaluation.measures.measure import Measure
from evaluation.measures.own import declared_well
from evaluation.measures.registry import parse_measure, remember_measure
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import Results
from evaluation.statistics.types import TestName, Weight
from evaluation.tools.answers import check_order, read_place
from evaluation.tools.asking import ToolError
from evaluation.types import CellKey
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Dataset

DEFAULT = (
    "naurc@4000tok",
    "recall@1000tok",
    "recall@4000tok",
    "recall@8000tok",
    "precision@4000tok",
    "tokens_to_recall(0.5)",
    "file_recall@10",
    "file_rr",
)

WINDOWS = "fixed-lines:lines=50"
"""The units of a random ranking, where there are no chunks."""


def span_measures(names: Sequence[str]) -> list[Measure]:
    """Return the measures; raise for one that needs more than places and gold."""
    measures = list(dict.fromkeys(declared_well(parse_measure(name)) for name in names))
    for measure in measures:
        if not scores_spans(measure):
            missing = " and ".join(sorted(measure.needs - {"text"})) or "chunk ids"
            raise UsageError(
                f"measure {measure.name!r} needs {missing}, which a span run does not have: choose one on text or "
                "files, such as naurc@4000tok or file_recall@10"
            )
        remember_measure(measure)  # a user's own measure is known by its name from here on
    return measures


def score_span_files(
    files: Sequence[str],
    dataset: str,
    names: Sequence[str],
    *,
    limit: int | None = None,
    seed: int = 0,
    weight: Weight = "repository",
    test: TestName = "t",
) -> Results:
    """Return the scores, intervals and comparisons of every run of these files on one dataset.

    A run of places has no search space of its own: its chance level is that of a random ranking of `WINDOWS`.
    """
    measures = span_measures(names)
    drawn = {"limit": limit, "seed": seed, "headline": _headline(measures)}
    config = make_config({"datasets": (dataset,), "chunkers": (WINDOWS,), "measures": tuple(names), **drawn})
    session = Session.resolve(config, usable_cache())
    loaded = session.dataset(dataset)
    units = span_units(measures)
    runs = [run for text in files for run in read_span_runs(NamedFile.parse(text), loaded, units=units)]
    names_seen = [run.name for run in runs]
    twice = next((name for name in names_seen if names_seen.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two span runs are called {twice!r}: name one another way, as NAME=FILE")
    scored = score_runs(runs, loaded, measures, limit=limit, seed=seed, weight=weight, test=test)
    if not any(map(has_chance, measures)):
        return scored
    chance = stages.levels(session, dataset, WINDOWS).chance
    cells = [replace(cell, judgements=replace(cell.judgements, chance=chance)) for cell in scored.cells]
    return replace(scored, cells=tuple(cells))


def score_places(found: Sequence[Sequence[Any]], dataset: Dataset, measures: Sequence[Measure]) -> Results:
    """Return the scores of a function's results for each of the dataset's queries, in dataset order."""
    loaded = load_dataset(dataset.name, InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
    finder = PlaceFinder(loaded, units=span_units(measures))
    places: dict[str, list[Place]] = {}
    for query, answer in zip(dataset.queries, found, strict=True):
        places[query.id] = []
        higher = math.inf
        for rank, value in enumerate(answer, start=1):
            try:
                higher = check_order(value, higher, rank=rank)
                places[query.id].append(finder.find(read_place(value, rank=rank), query))
            except ToolError as error:
                raise UsageError(f"query {query.id!r}, {error}") from None
            except PlaceError as error:
                raise UsageError(f"query {query.id!r}, place {rank}: {error}") from None
    return score_runs([SpanRun("places", places)], loaded, measures)


def score_runs(
    runs: Sequence[SpanRun],
    loaded: LoadedDataset,
    measures: Sequence[Measure],
    *,
    limit: int | None = None,
    seed: int = 0,
    weight: Weight = "repository",
    test: TestName = "t",
) -> Results:
    """Return the scores of runs in memory."""
    given = {"datasets": (loaded.spec,), "measures": tuple(each.name for each in measures), "seed": seed}
    more = {"limit": limit, "weight": weight, "test": test, "headline": _headline(measures)}
    config = make_config({**given, **more})
    records = [
        span_record(
            CellKey.of_span_run(loaded.spec, run.name), loaded, run, measures=measures, budgets=config.budgets
        ).record
        for run in runs
    ]
    return with_statistics(
        Results(
            config=config,
            environment=environment(config.run),
            datasets=(loaded.record(),),
            cells=tuple(records),
            queries=tuple(query_records(loaded)),
        )
    )


def _headline(measures: Sequence[Measure]) -> str:
    """Return the first measure with a mean to compare by; the default one if there is none."""
    return next((each.name for each in measures if each.centre != "median"), DEFAULT[0])
