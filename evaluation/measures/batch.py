"""Cases scored together, and the work that their measures share: one engine call, one reading per unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.measures import trec_eval
from evaluation.measures.measure import Measure, relevance
from evaluation.measures.reading import Reading, read
from evaluation.types import Case, TextCase

if TYPE_CHECKING:
    from evaluation.measures.trec_measure import TrecMeasure


class Batch:
    """Cases in order, and the work done once for all measures."""

    def __init__(self, cases: Sequence[Case], measures: Sequence[Measure]) -> None:
        self.cases = cases
        self.measures = measures
        self._checked_rankings = False
        self._trec: dict[tuple[str, str], dict[str, np.ndarray]] = {}
        self._readings: dict[SizeUnit | None, Reading] = {}

    def __len__(self) -> int:
        return len(self.cases)

    def each(self, function: Callable[[Case], float]) -> np.ndarray:
        """Return the function's value for each case."""
        return np.array([function(case) for case in self.cases], dtype=float)

    @cached_property
    def grades(self) -> list[Mapping[str, float]]:
        """The judgements of each case; an unlabelled case is an error, an empty one is not."""
        missing = [case.query_id for case in self.cases if case.grades is None]
        if missing:
            raise UsageError(f"query {missing[0]!r} is not labelled: give it judgements (an empty set scores 0)")
        return [case.grades for case in self.cases if case.grades is not None]

    def trec(self, measure: TrecMeasure) -> np.ndarray:
        """Return the engine's values; all measures with the same gains are computed in one call."""
        key = measure.gains_key
        if key not in self._trec:
            self._trec[key] = self._run_engine(measure)
        return self._trec[key][measure.trec_name]

    def _run_engine(self, measure: TrecMeasure) -> dict[str, np.ndarray]:
        together: list[Any] = [m for m in self.measures if getattr(m, "gains_key", None) == measure.gains_key]
        if measure not in together:
            raise ValueError(f"{measure} is not one of the batch's measures")
        self._check_rankings()
        depth = deepest(together)
        runs, qrels = {}, {}
        query_ids = [str(number) for number in range(len(self))]  # the engine does not accept every text as an id
        for query_id, case, grades in zip(query_ids, self.cases, self.grades, strict=True):
            if run := trec_eval.run_of(case.ranking[:depth], grades):
                runs[query_id] = run
            qrels[query_id] = measure.integer_gains(grades)
        return trec_eval.trec_scores(query_ids, runs, qrels, {m.trec_name for m in together})

    def _check_rankings(self) -> None:
        if not self._checked_rankings:
            for case in self.cases:
                trec_eval.check_once(case)
            self._checked_rankings = True

    @cached_property
    def texts(self) -> list[TextCase]:
        """The text part of each case."""
        missing = [case.query_id for case in self.cases if case.text is None]
        if missing:
            raise UsageError(f"query {missing[0]!r} comes without its text: measures at a budget cannot be computed")
        return [case.text for case in self.cases if case.text is not None]

    def reading(self, unit: SizeUnit | None) -> Reading:
        """Return how the rankings are read in this unit, or in bytes; computed once."""
        if unit not in self._readings:
            self._readings[unit] = read(self.texts, self._checked(unit))
        return self._readings[unit]

    def all_chunks(self, unit: SizeUnit | None) -> Reading:
        """Return how the files that hold gold would be read chunk by chunk, retrieved or not."""
        whole = []
        for case, text in zip(self.cases, self.texts, strict=True):
            if text.chunks is None:
                raise UsageError(f"query {case.query_id!r} comes without the chunks of its gold files")
            whole.append(replace(text, results=text.chunks, headers={}))
        return read(whole, self._checked(unit))

    def _checked(self, unit: SizeUnit | None) -> SizeUnit | None:
        for case, text in zip(self.cases, self.texts, strict=True):
            if unit is not None and unit not in text.rulers:
                raise UsageError(f"query {case.query_id!r} has no ruler in {unit}")
        return unit

    @cached_property
    def gains(self) -> np.ndarray:
        """The grade at each rank that any measure reads, one row per case; 0 if there is none or it is below 0."""
        self._check_rankings()
        depth = deepest([m for m in self.measures if "grades" in m.needs])
        rankings = [case.ranking[:depth] for case in self.cases]
        lengths = np.fromiter(map(len, rankings), int, len(rankings))
        found = (map(grades.get, ranking, repeat(0.0)) for ranking, grades in zip(rankings, self.grades, strict=True))
        flat = np.fromiter(chain.from_iterable(found), float, lengths.sum())
        matrix = np.zeros((len(rankings), lengths.max(initial=0)))
        matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = np.maximum(flat, 0.0)
        return matrix

    @cached_property
    def returned(self) -> np.ndarray:
        """The number of results of each case."""
        return np.array([len(case.ranking) for case in self.cases])

    @cached_property
    def files(self) -> list[list[int]]:
        """The files of each case, in the order of their first ranked chunks."""
        return [list(dict.fromkeys(map(itemgetter(0), text.results))) for text in self.texts]

    def relevant_counts(self, rel: str = "") -> np.ndarray:
        """Return how many chunks are relevant to each query."""
        owner, grades = self.judged
        return np.bincount(owner, weights=relevance(rel)(grades), minlength=len(self))

    @cached_property
    def judged(self) -> tuple[np.ndarray, np.ndarray]:
        """Every judgement as the number of its case and its grade, by case, highest grade first."""
        sizes = [len(grades) for grades in self.grades]
        grades = np.fromiter(chain.from_iterable(grades.values() for grades in self.grades), float, sum(sizes))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return owner, grades[np.lexsort((-grades, owner))]


def deepest(measures: Sequence[Measure]) -> int | None:
    """Return the largest cutoff of any measure; None if one reads all results."""
    cutoffs: list[int | None] = [measure.cutoff for measure in measures]
    known = [cutoff for cutoff in cutoffs if cutoff is not None]
    return max(known) if known and len(known) == len(cutoffs) else None
