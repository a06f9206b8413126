"""How much must be read until enough gold has been seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.measures.measure import Direction, Measure, Need, Unit
from evaluation.measures.unit_family import in_unit

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class TokensToRecall(Measure):
    """The least reading after which the share ``recall`` of the gold has been seen; undefined if it never is."""

    recall: float
    charge_duplicates: bool = False
    size_unit: ClassVar[SizeUnit] = "tokens"
    unit: ClassVar[Unit] = "tokens"
    label: ClassVar[str] = "tokens_to_recall"
    pattern: ClassVar[str] = "tokens_to_recall(r)"
    positional: ClassVar[str | None] = "recall"
    definition: ClassVar[str] = (
        "least tokens read until the share r of the gold has been read; undefined where the ranking never gets there, "
        "so that a summary gives the median with failures as infinite, and the share that got there"
    )
    template: ClassVar[str] = "tokens read until {recall:.0%} of the code that answers has been shown"
    comparable: ClassVar[bool] = True
    citation: ClassVar[str] = "this project; Cooper 1968, Expected search length, in units of text"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[Direction] = "lower"
    centre: ClassVar[Literal["mean", "median"]] = "median"
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename monotone stable split duplicate".split())

    def __post_init__(self) -> None:
        if not 0 < self.recall <= 1:
            raise UsageError(f"the recall of {self.label} must be above 0 and at most 1, not {self.recall:g}")

    @property
    def units(self) -> frozenset[SizeUnit]:
        """The unit in the measure's name."""
        return frozenset({self.size_unit})

    def score(self, batch: Batch) -> np.ndarray:
        """Return the units read when the gold read first reaches its share."""
        reading = batch.reading(self.size_unit)
        gold = reading.curve(charge_duplicates=self.charge_duplicates).gold
        # Units are integers; the slack keeps 0.3 of 10 at 3 in binary fractions.
        wanted = np.ceil(self.recall * reading.total - 1e-9)
        before = np.cumsum(gold.length) - gold.length
        before = before - before[np.searchsorted(gold.case, gold.case)]
        reaches = np.flatnonzero((before < wanted[gold.case]) & (before + gold.length >= wanted[gold.case]))
        values = np.full(len(batch), np.nan)
        owner = gold.case[reaches]
        values[owner] = gold.x[reaches] + wanted[owner] - before[reaches]
        return values


NwsToRecall = in_unit(TokensToRecall, "nws")
LinesToRecall = in_unit(TokensToRecall, "lines")
