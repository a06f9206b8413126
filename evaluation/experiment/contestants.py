"""Cells that do not come from our pipeline: span runs from files, and tools that are queried during the run."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig
from evaluation.experiment.hit_costs import HITS_SHOWN
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.records import FinishedCell
from evaluation.experiment.session import Session
from evaluation.experiment.shown_texts import ShownSpan
from evaluation.experiment.span_places import Place, PlaceFinder, SpanRun
from evaluation.experiment.span_runs import NamedFile, read_span_runs
from evaluation.experiment.span_scoring import score_spans, scores_spans, span_units
from evaluation.experiment.tool_runs import run_tool
from evaluation.measures.measure import Measure
from evaluation.measures.own import MeasureError
from evaluation.results.facts import JudgementFacts, SearchFacts
from evaluation.results.types import CellRecord, HitRecord
from evaluation.tools.asking import ToolError
from evaluation.tools.registry import make_tool
from evaluation.types import CellKey


class Contestant(NamedTuple):
    """A span run to score: already read from a file, or a tool still to be run."""

    key: CellKey
    rank: Callable[[], SpanRun]


def contestants(session: Session) -> list[Contestant]:
    """Return the span runs and tools of an experiment; files are read and checked before anything is computed."""
    config = session.config
    if not config.spans and not config.tools:
        return []
    check_headline(session)
    found: list[Contestant] = []
    units = span_units(session.measures)
    tools = [make_tool(text, timeout=config.tool_timeout) for text in config.tools]
    for spec in config.datasets:
        loaded = session.dataset(spec)
        for text in config.spans:
            found += [_kept(spec, run) for run in read_span_runs(NamedFile.parse(text), loaded, units=units)]
        for tool in tools:
            ask = functools.partial(run_tool, tool, loaded, depth=config.depth, units=units)
            found.append(Contestant(CellKey.of_span_run(spec, tool.name), ask))
    _check_names(config, [each.key for each in found])
    return found


def _kept(spec: str, run: SpanRun) -> Contestant:
    return Contestant(CellKey.of_span_run(spec, run.name), lambda: run)


def contestant_record(session: Session, contestant: Contestant) -> FinishedCell:
    """Return the finished cell; if a tool or a measure fails, the cell carries the reason."""
    try:
        run = contestant.rank()
    except ToolError as error:
        return FinishedCell(CellRecord(contestant.key, "failed", str(error)))
    session.span_runs[contestant.key] = run
    loaded = session.dataset(contestant.key.dataset)
    try:
        return span_record(contestant.key, loaded, run, measures=session.measures, budgets=session.config.budgets)
    except MeasureError as error:
        return FinishedCell(CellRecord(contestant.key, "failed", str(error)))


def span_record(
    key: CellKey, loaded: LoadedDataset, run: SpanRun, *, measures: Sequence[Measure], budgets: Sequence[int]
) -> FinishedCell:
    """Return a span run as a cell: the measures on text and files, and the places that a report shows."""
    scored = score_spans([each for each in measures if scores_spans(each)], loaded, run, budgets=budgets)
    finder = PlaceFinder(loaded)
    texts: dict[str, ShownSpan] = {}
    hits: dict[str, tuple[HitRecord, ...]] = {}
    for query, costs in zip(loaded.dataset.queries, scored.hit_costs, strict=True):
        shown = list(run.places.get(query.id, ()))[:HITS_SHOWN]
        hits[query.id] = tuple(
            _hit(finder, place, rank, tokens)
            for rank, (place, tokens) in enumerate(zip(shown, costs, strict=True), start=1)
        )
        texts |= {_place_id(place): ShownSpan(key.dataset, place.file, place.start, place.end) for place in shown}
    queries = loaded.dataset.queries
    empty = sum(not run.places.get(query.id) for query in queries)
    counts = {"queries_without_places": float(empty), **run.diagnostics}
    record = CellRecord(
        key=key,
        status="ok",
        search=SearchFacts(uses_vectors=False, diagnostics=counts),
        judgements=JudgementFacts(
            uncovered_queries=scored.unanswerable,
            queries_with_relevant=len(queries) - scored.unanswerable,
            tokens_at=scored.tokens_at,
        ),
        cost=replace(run.cost, **scored.reading._asdict()),
        seconds={name: round(value, 3) for name, value in run.seconds.items()},
        scores=scored.scores,
        curve=scored.curve,
        hits=hits,
    )
    return FinishedCell(record, texts)


def check_headline(session: Session) -> None:
    """Raise unless cells without chunk ids have the headline measure."""
    headline = next(each for each in session.measures if each.name == session.config.headline)
    if not scores_spans(headline):
        needs = ", ".join(sorted(headline.needs - {"text"}))
        raise UsageError(
            f"{headline.name} needs {needs}, and span runs and readers have places only: "
            "choose a headline on text, such as naurc@4000tok"
        )


def _check_names(config: ExperimentConfig, keys: Sequence[CellKey]) -> None:
    seen: set[CellKey] = set()
    for key in keys:
        if key in seen:
            raise UsageError(f"two span runs or tools are called {key.chunker!r}: name one another way, as NAME=…")
        if key.chunker in config.chunkers:
            raise UsageError(f"{key.chunker!r} is a chunker of this comparison: name the span run or tool another way")
        seen.add(key)


def _hit(finder: PlaceFinder, place: Place, rank: int, tokens: int) -> HitRecord:
    span = finder.lines(place)
    return HitRecord(rank, _place_id(place), place.score, place.file.path, span.start_line, span.end_line, tokens)


def _place_id(place: Place) -> str:
    text = f"{place.file.repo}\0{place.file.path}\0{place.start}:{place.end}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20]
