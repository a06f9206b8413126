"""A measure applied to one ranking of ids: the implementation of `measure(ids, relevant)`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from chunkers.writable import is_writable
from evaluation.measures.batch import Batch
from evaluation.measures.measure import Measure
from evaluation.types import Case

Relevant = Collection[str] | Mapping[str, float]
"""Relevant ids, or ids with their grades."""

Ranking = Iterable[str] | Mapping[str, float]
"""Ids, best first, or ids with their scores."""

Vectors = Mapping[str, Sequence[float]] | Sequence[Sequence[float]] | np.ndarray
"""Embeddings of length 1, by id or in rank order."""

_ARGUMENTS = {
    "grades": "the relevant ids, as in measure(ids, relevant)",
    "vectors": "the embeddings of the results, as in measure(ids, vectors=...)",
    "nuggets": "the parts of the answer that each id holds, as in measure(ids, nuggets=...)",
    "reference": "a reference ranking, as in measure(ids, reference=...)",
}


def score_ranking(
    measure: Measure,
    ranking: Ranking,
    relevant: Relevant | None = None,
    *,
    vectors: Vectors | None = None,
    nuggets: Mapping[str, Collection[int]] | None = None,
    reference: Ranking | None = None,
) -> float:
    """Return the score of one ranking; a missing argument that the measure needs is an error."""
    given = {"grades": relevant, "vectors": vectors, "nuggets": nuggets, "reference": reference}
    for need in sorted(measure.needs):
        if need not in given:
            raise UsageError(f"{measure.name} needs the text behind the ids: use it in an experiment")
        if given[need] is None:
            raise UsageError(f"{measure.name} needs {_ARGUMENTS[need]}")
    ids = as_ranking(ranking)
    case = Case(
        query_id="query",
        ranking=ids,
        grades=None if relevant is None else as_grades(relevant),
        vectors=None if vectors is None else _rows(vectors, ids),
        nuggets=None if nuggets is None else {item: frozenset(parts) for item, parts in nuggets.items()},
        reference=None if reference is None else as_ranking(reference, "the reference ranking"),
    )
    return float(measure.score(Batch([case], [measure]))[0])


def as_ranking(ranking: Ranking, what: str = "the ranking") -> list[str]:
    """Return the ids, best first; equal scores keep the given order.

    Raise, naming ``what``, if they are not a list of texts, have no order, or have scores that are not numbers.
    """
    if isinstance(ranking, (str, bytes, set, frozenset)) or not isinstance(ranking, Iterable):
        raise UsageError(f"{what} is {described(ranking)}: give a list of ids, best first, or ids with scores")
    ids = _texts(ranking, what)
    if not isinstance(ranking, Mapping):
        return ids
    check_numbers(ranking, "score", what)
    return sorted(ids, key=ranking.__getitem__, reverse=True)


def as_grades(relevant: Relevant, what: str = "the relevant ids") -> Mapping[str, float]:
    """Return the grades; ids without one have grade 1."""
    if isinstance(relevant, (str, bytes)) or not isinstance(relevant, Iterable):
        raise UsageError(f"{what} are {described(relevant)}: give a set of ids, or ids with grades")
    ids = _texts(relevant, what)
    if not isinstance(relevant, Mapping):
        return dict.fromkeys(ids, 1)
    check_numbers(relevant, "grade", what)
    return relevant


def check_numbers(values: Mapping[str, Any], kind: Literal["grade", "score"], what: str) -> None:
    """Raise for the first value that is not a finite number."""
    for item, value in values.items():
        if not _is_finite(value):
            raise UsageError(f"the {kind} of {item!r} in {what} is {described(value)}; it must be a finite number")


def described(value: object) -> str:
    """Return a short description of the argument."""
    said = one_line(repr(value), limit=80)
    return f"the text {said}" if isinstance(value, str) else said


def _is_finite(value: Any) -> bool:  # noqa: ANN401 - whatever the caller passes
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def _texts(ids: Iterable[str], what: str) -> list[str]:
    listed = list(ids)
    for item in listed:
        if not isinstance(item, str):
            raise UsageError(f"{described(item)} in {what} is no text: write each id as a text, such as '17'")
        if not is_writable(item):  # trec_eval ends the process at one
            raise UsageError(f"{item!r} in {what} is not UTF-8: rename it")
    return listed


def _rows(vectors: Vectors, ranking: Sequence[str]) -> np.ndarray:
    if not isinstance(vectors, Mapping):
        return np.asarray(vectors, dtype=float)
    if missing := [item for item in ranking if item not in vectors]:
        raise UsageError(f"{missing[0]!r} is ranked and has no vector")
    return np.array([vectors[item] for item in ranking], dtype=float)
