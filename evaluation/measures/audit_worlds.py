"""Small worlds in which every measure can be evaluated on every ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations

import numpy as np

from chunkers.sizes import Ruler
from chunkers.types import SizeUnit
from evaluation.types import Case, TextCase, TextSpan

ITEMS = ("a", "b", "c", "d", "e")
UNITS_PER_ITEM = 10
BINARY: Mapping[str, float] = {"a": 1, "b": 1, "c": 0}
GRADED: Mapping[str, float] = {"a": 4, "b": 3, "c": 2, "d": 1, "e": 0}
RANKINGS = tuple(permutations(ITEMS))

_RULER = Ruler(np.arange(UNITS_PER_ITEM))
_VECTORS = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0][:, :5] + 0.2


def item_case(
    ranking: Sequence[str], grades: Mapping[str, float], *, reference: Sequence[str] | None = None, names: str = ""
) -> Case:
    """Return a case of items, each a file of ten units that is gold if its grade is above 0.

    ``names`` renames the ids, item by item; nothing else changes.
    """
    return _item_case(tuple(ranking), tuple(grades.items()), None if reference is None else tuple(reference), names)


@cache
def _item_case(
    ranking: tuple[str, ...], judged: tuple[tuple[str, float], ...], reference: tuple[str, ...] | None, names: str
) -> Case:
    grades = dict(judged)
    order = sorted({*ITEMS, *ranking})
    spell = dict(zip(order, names, strict=True)) if names else {item: item for item in order}
    whole = {item: TextSpan(number, 0, UNITS_PER_ITEM) for number, item in enumerate(order)}
    relevant = [item for item in order if grades.get(item, 0) > 0]
    text = TextCase(
        results=[whole[item] for item in ranking],
        gold=[whole[item] for item in relevant],
        rulers=_rulers([_RULER] * len(order)),
        chunks=list(whole.values()),
    )
    rows = _VECTORS[[order.index(item) for item in ranking]] if ranking else np.zeros((0, _VECTORS.shape[1]))
    ideal = reference if reference is not None else sorted(order, key=lambda item: -grades.get(item, 0))
    return Case(
        "",
        [spell[item] for item in ranking],
        {spell[item]: grade for item, grade in grades.items()},
        text,
        vectors=rows / np.linalg.norm(rows, axis=1, keepdims=True) if ranking else rows,
        nuggets={spell[item]: frozenset({order.index(item)}) for item in relevant},
        reference=[spell[item] for item in ideal],
    )


FILE_UNITS = 12
GOLD_UNITS = 3
GOLD_PLACES = tuple(tuple((start + i) % FILE_UNITS for i in range(GOLD_UNITS)) for start in range(FILE_UNITS))
"""Three units of gold at every place, wrapping around the end, so that every unit is gold equally often."""


def chunk_case(
    ranking: Sequence[tuple[int, int]], chunks: Sequence[tuple[int, int]], *, gold: Sequence[int] = GOLD_PLACES[1]
) -> Case:
    """Return a case over one file of twelve units: a chunk that shares any unit of gold is relevant."""
    return _chunk_case(tuple(ranking), tuple(chunks), tuple(gold))


@cache
def _chunk_case(
    ranking: tuple[tuple[int, int], ...], chunks: tuple[tuple[int, int], ...], gold: tuple[int, ...]
) -> Case:
    names = {chunk: f"{chunk[0]}-{chunk[1]}" for chunk in (*chunks, *ranking)}
    relevant = {name: 1.0 for (start, end), name in names.items() if any(start <= unit < end for unit in gold)}
    shown = [names[chunk] for chunk in ranking]
    rows = np.array([_VECTORS[chunk[0] % 8] for chunk in ranking]).reshape(len(ranking), -1)
    return Case(
        "",
        shown,
        relevant,
        TextCase(
            results=[TextSpan(0, *chunk) for chunk in ranking],
            gold=[TextSpan(0, unit, unit + 1) for unit in gold],
            rulers=_rulers([Ruler(np.arange(FILE_UNITS))]),
            chunks=[TextSpan(0, *chunk) for chunk in chunks],
        ),
        vectors=rows / np.linalg.norm(rows, axis=1, keepdims=True),
        nuggets={name: frozenset({0}) for name in relevant},
        reference=sorted(shown, key=lambda name: -relevant.get(name, 0)),
    )


def tiling(size: int) -> list[tuple[int, int]]:
    """Return the file cut into equal chunks."""
    return [(start, start + size) for start in range(0, FILE_UNITS, size)]


def _rulers(rulers: Sequence[Ruler]) -> Mapping[SizeUnit, Sequence[Ruler]]:
    return {"tokens": rulers, "nws": rulers, "lines": rulers}
