"""Declarations of custom measures, stored with results, which can then be displayed without running their code."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.measures.measure import Direction, Measure, Unit
from evaluation.measures.registry import is_registered, remember_measure, remembered_measure

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """All that tables, verdicts and gates need to know about a measure."""

    name: str
    label: str
    pattern: str
    definition: str
    words: str
    citation: str
    unit: Unit
    direction: Direction
    low: float | None
    """The least value; None if there is none."""
    high: float | None
    comparable: bool
    cutoff: int | None = None
    budget: int | None = None
    budget_unit: SizeUnit | None = None


def own_facts(measures: Iterable[Measure]) -> tuple[MeasureFacts, ...]:
    """Return the facts of the unregistered measures; any process knows the others by name."""
    return tuple(_facts(measure) for measure in measures if not is_registered(measure))


def recall(own: Iterable[MeasureFacts]) -> None:
    """Register these names with these facts, replacing any earlier meaning in this process."""
    for facts in own:
        known = remembered_measure(facts.name)
        if known is None or _facts(known) != facts:
            remember_measure(declared(facts))


def _facts(measure: Measure) -> MeasureFacts:
    low, high = (float(edge) if math.isfinite(edge) else None for edge in measure.range)
    same = ("name", "label", "pattern", "definition", "words", "citation", "unit", "direction", "comparable")
    values: dict[str, Any] = {name: getattr(measure, name) for name in (*same, "cutoff", "budget", "budget_unit")}
    return MeasureFacts(**values, low=low, high=high)


def declared(facts: MeasureFacts) -> Measure:
    """Return a measure with these facts, which cannot score."""
    low = -math.inf if facts.low is None else facts.low
    high = math.inf if facts.high is None else facts.high
    same = ("name", "label", "pattern", "definition", "words", "citation", "unit", "direction", "comparable")
    meaning = {name: getattr(facts, name) for name in (*same, "cutoff", "budget", "budget_unit")}
    cls = type("Declared", (_Declared,), {**meaning, "range": (low, high), "needs": frozenset()})
    measure: Measure = cls()
    return measure


class _Declared(Measure):
    """A measure whose code is elsewhere."""

    def score(self, batch: Batch) -> np.ndarray:  # noqa: ARG002 - there is nothing to score with
        """Raise."""
        raise UsageError(
            f"{self.name} is known from results only: name its class, as in my_measures.py:Class,cutoff=10"
        )
