"""Context for an id measure: how much text k results are, and how many chunks are relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.measure import BinaryMeasure, Direction, Need, RankedMeasure, Unit
from evaluation.measures.unit_family import in_unit

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class TokensBehind(RankedMeasure):
    """Tokens in the first k results, including repetitions, excluding headers."""

    size_unit: ClassVar[SizeUnit] = "tokens"
    unit: ClassVar[Unit] = "tokens"
    label: ClassVar[str] = "tokens_behind"
    pattern: ClassVar[str] = "tokens_behind@k"
    definition: ClassVar[str] = "tokens of text in the first k results: what a prompt pays for them"
    template: ClassVar[str] = "tokens of text in {top}"
    citation: ClassVar[str] = "this project; context for every measure at k results"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[Direction] = "none"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename".split())

    @property
    def units(self) -> frozenset[SizeUnit]:
        """The unit in the measure's name."""
        return frozenset({self.size_unit})

    def score(self, batch: Batch) -> np.ndarray:
        """Return the units of the first k results."""
        return batch.reading(self.size_unit).top(self.cutoff).sent


NwsBehind = in_unit(TokensBehind, "nws")
LinesBehind = in_unit(TokensBehind, "lines")


@dataclass(frozen=True, kw_only=True)
class Relevant(BinaryMeasure):
    """The number of chunks that are relevant to the query."""

    unit: ClassVar[Unit] = "count"
    label: ClassVar[str] = "relevant"
    pattern: ClassVar[str] = "relevant"
    definition: ClassVar[str] = "number of relevant chunks: the divisor of recall, which every chunker makes its own"
    template: ClassVar[str] = "number of relevant chunks"
    citation: ClassVar[str] = "trec_eval num_rel"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[Direction] = "none"
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename stable".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return the count of each case."""
        return batch.relevant_counts(self.rel)
