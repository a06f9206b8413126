"""Scores of span runs: text and file measures need only places and gold, no chunks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.file_rulers import VisibleBytes
from evaluation.experiment.gold_text import answer_key, gold_text
from evaluation.experiment.header_cost import header_cost
from evaluation.experiment.hit_costs import hit_costs
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.reading_cost import READING_MEASURES, ReadingCost, reading_cost
from evaluation.experiment.scoring import BLOCK, CURVE_UNIT
from evaluation.experiment.span_places import Place, SpanRun
from evaluation.measures.curve import recall_curves
from evaluation.measures.evaluate import evaluate
from evaluation.measures.measure import Measure
from evaluation.types import Answer, Case, TextCase, TextSpan
from ground_truth.types import Query


class SpanScores(NamedTuple):
    """One run's scores, in the order of the dataset's queries."""

    scores: dict[str, np.ndarray]
    curve: np.ndarray
    tokens_at: dict[str, float]
    unanswerable: int
    """Queries without gold: they score 0."""
    reading: ReadingCost
    hit_costs: list[list[int]]
    """Tokens that each displayed place of a query adds to what is read."""


def scores_spans(measure: Measure) -> bool:
    """Return whether a measure needs only places and gold."""
    return measure.needs == {"text"}


def span_units(measures: Iterable[Measure]) -> set[SizeUnit]:
    """Return the units that the measures of span runs count in."""
    return {CURVE_UNIT, *(unit for measure in measures if scores_spans(measure) for unit in measure.units)}


def score_spans(
    measures: Sequence[Measure], loaded: LoadedDataset, run: SpanRun, *, budgets: Sequence[int]
) -> SpanScores:
    """Return the scores of every query; one that the run does not answer scores as an empty ranking."""
    builder = _SpanCases(loaded, run, span_units(measures))
    queries = loaded.dataset.queries
    asked = list(dict.fromkeys((*measures, *READING_MEASURES)))
    columns: dict[str, list[float]] = {measure.name: [] for measure in asked}
    curves: list[np.ndarray] = []
    costs: list[list[int]] = []
    for start in range(0, len(queries), BLOCK):
        cases = [builder.case(query) for query in queries[start : start + BLOCK]]
        scores = evaluate(asked, cases)
        curves.append(recall_curves(cases, unit=CURVE_UNIT, budgets=budgets))
        costs += hit_costs(case.text for case in cases if case.text)
        for case in cases:
            for name, values in columns.items():
                values.append(scores[case.query_id][name])
    scored = {name: np.array(values, dtype=np.float64) for name, values in columns.items()}
    return SpanScores(
        scores={measure.name: scored[measure.name] for measure in measures},
        curve=np.concatenate(curves),
        tokens_at={str(k): builder.tokens_behind(queries, k) for k in (5, 10)},
        unanswerable=sum(not builder.gold.get(query.id) for query in queries),
        reading=reading_cost(scored, budgets=budgets),
        hit_costs=costs,
    )


@dataclass(frozen=True, slots=True)
class _FileRuler:
    """One file in one unit; hidden units do not count."""

    loaded: LoadedDataset
    file: CorpusFile
    unit: SizeUnit

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """Return how many visible units begin before each offset."""
        found = self.loaded.ruler(self.file, self.unit).at(offsets)
        return np.asarray(found - np.searchsorted(self.loaded.hidden_starts(self.file, self.unit), offsets))


class _SpanCases:
    """Builds the cases that the measures of a run score."""

    def __init__(self, loaded: LoadedDataset, run: SpanRun, units: Iterable[SizeUnit]) -> None:
        self._run, self._units = run, sorted(units)
        files = {place.file[:2]: place.file for places in run.places.values() for place in places}
        for repo, path in sorted({(note.repo, note.path) for note in loaded.dataset.annotations} - files.keys()):
            source = next(each for each in loaded.dataset.repositories if each.name == repo).read(path)
            files[repo, path] = CorpusFile(repo, path, source.language if source else None)
        # In the file order of a chunk table, so that sums are computed in the same order.
        ordered = [files[name] for name in sorted(files)]
        self._index = {file[:2]: number for number, file in enumerate(ordered)}
        self._rulers = {unit: [_FileRuler(loaded, file, unit) for file in ordered] for unit in self._units}
        self._bytes = [VisibleBytes(loaded.hidden_ranges(file)) for file in ordered] if loaded.dataset.hidden else None
        self._cost = functools.cache(header_cost)
        self.gold = gold_text(loaded.dataset, self._index, loaded.gold_lines)

    def case(self, query: Query) -> Case:
        """Return the case of one query."""
        places = self._run.places.get(query.id, ())
        spans = [self._span(place) for place in places]
        gold, headers = self.gold.get(query.id, []), self._headers(query, places)
        text = TextCase(spans, gold, self._rulers, headers, visible=self._bytes)
        return Case(query_id=query.id, ranking=(), grades=None, text=text, answers=self._answers(query.id))

    def tokens_behind(self, queries: Sequence[Query], k: int) -> float:
        """Return the mean tokens of the first k places, repetitions included."""
        sums = []
        for query in queries:
            spans = [self._span(place) for place in self._run.places.get(query.id, ())[:k]]
            ends = [self._rulers["tokens"][span.file].at(np.array([span.start, span.end])) for span in spans]
            sums.append(sum(int(end - start) for start, end in ends))
        return float(np.mean(sums))

    def _span(self, place: Place) -> TextSpan:
        return TextSpan(self._index[place.file[:2]], place.start, place.end)

    def _answers(self, query_id: str) -> list[Answer]:
        found: list[Answer] = []
        while (key := answer_key(query_id, len(found))) in self.gold:
            found.append(Answer(None, self.gold[key]))
        return found

    def _headers(self, query: Query, places: Sequence[Place]) -> dict[SizeUnit, list[int]]:
        if not any(place.header or place.header_tokens for place in places):
            return {}
        return {unit: [self._header_cost(query, place, unit) for place in places] for unit in self._units}

    def _header_cost(self, query: Query, place: Place, unit: SizeUnit) -> int:
        if place.header_tokens is not None:
            if unit != "tokens" and place.header_tokens:
                raise UsageError(
                    f"run {self._run.name!r}, query {query.id!r}: header_tokens is a number of tokens, and a measure "
                    f"counts {unit}: give the header itself as header, or measure in tokens"
                )
            return place.header_tokens
        return self._cost(place.header, unit)
