"""A measure applied to one ranking of ids: what `measure(ids, relevant)` does."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.batch import Batch
from evaluation.measures.measure import Measure
from evaluation.types import Case

Relevant = Collection[str] | Mapping[str, float]
"""Relevant ids, or ids with their grades."""

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
    ranking: Sequence[str],
    relevant: Relevant | None = None,
    *,
    vectors: Vectors | None = None,
    nuggets: Mapping[str, Collection[int]] | None = None,
    reference: Sequence[str] | None = None,
) -> float:
    """Return the score of one ranking; an argument that the measure needs and does not get is an error."""
    given = {"grades": relevant, "vectors": vectors, "nuggets": nuggets, "reference": reference}
    for need in sorted(measure.needs):
        if need not in given:
            raise UsageError(f"{measure.name} needs the text behind the ids: use it in an experiment")
        if given[need] is None:
            raise UsageError(f"{measure.name} needs {_ARGUMENTS[need]}")
    if isinstance(ranking, str):
        raise UsageError(f"the ranking is the text {ranking!r}: give a list of ids, best first")
    case = Case(
        query_id="query",
        ranking=list(ranking),
        grades=None if relevant is None else as_grades(relevant),
        vectors=None if vectors is None else _rows(vectors, ranking),
        nuggets=None if nuggets is None else {item: frozenset(parts) for item, parts in nuggets.items()},
        reference=reference,
    )
    return float(measure.score(Batch([case], [measure]))[0])


def as_grades(relevant: Relevant) -> Mapping[str, float]:
    """Return the grades; ids that come without have grade 1."""
    if isinstance(relevant, str):
        raise UsageError(f"the relevant ids are the text {relevant!r}: give a set of ids, or ids with grades")
    return relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)


def _rows(vectors: Vectors, ranking: Sequence[str]) -> np.ndarray:
    if not isinstance(vectors, Mapping):
        return np.asarray(vectors, dtype=float)
    if missing := [item for item in ranking if item not in vectors]:
        raise UsageError(f"{missing[0]!r} is ranked and has no vector")
    return np.array([vectors[item] for item in ranking], dtype=float)
