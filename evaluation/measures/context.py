"""What stands behind an id measure: how much text k results are, and how many chunks are relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.measure import BinaryMeasure, Need, RankedMeasure

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class TokensBehind(RankedMeasure):
    """Units of text in the first k results, repetitions included, headers not."""

    unit: ClassVar[SizeUnit] = "tokens"
    label: ClassVar[str] = "tokens_behind"
    pattern: ClassVar[str] = "tokens_behind@k"
    definition: ClassVar[str] = "units of text in the first k results: what a prompt pays for them"
    citation: ClassVar[str] = "this project; context for every measure at k results"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[Literal["higher", "lower", "none"]] = "none"
    properties: ClassVar[frozenset[str]] = frozenset("bounded empty rename".split())

    @property
    def units(self) -> frozenset[SizeUnit]:
        """The unit in the measure's name."""
        return frozenset({self.unit})

    def score(self, batch: Batch) -> np.ndarray:
        """Return the units of the first k results."""
        return batch.reading(self.unit).top(self.cutoff).sent


@dataclass(frozen=True, kw_only=True)
class NwsBehind(TokensBehind):
    """The same in non-whitespace characters."""

    unit: ClassVar[SizeUnit] = "nws"
    label: ClassVar[str] = "nws_behind"
    pattern: ClassVar[str] = "nws_behind@k"


@dataclass(frozen=True, kw_only=True)
class LinesBehind(TokensBehind):
    """The same in lines."""

    unit: ClassVar[SizeUnit] = "lines"
    label: ClassVar[str] = "lines_behind"
    pattern: ClassVar[str] = "lines_behind@k"


@dataclass(frozen=True, kw_only=True)
class Relevant(BinaryMeasure):
    """The number of chunks that are relevant to the query."""

    label: ClassVar[str] = "relevant"
    pattern: ClassVar[str] = "relevant"
    definition: ClassVar[str] = "number of relevant chunks: the divisor of recall, which every chunker makes its own"
    citation: ClassVar[str] = "trec_eval num_rel"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[Literal["higher", "lower", "none"]] = "none"
    properties: ClassVar[frozenset[str]] = frozenset("bounded rename stable".split())

    def score(self, batch: Batch) -> np.ndarray:
        """Return the count of each case."""
        return batch.relevant_counts(self.rel)
