"""Common base of the measures that trec_eval computes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from evaluation.measures import trec_eval
from evaluation.measures.measure import BinaryMeasure, Share

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


class TrecMeasure(Protocol):
    """A measure with its name in trec_eval and the gains passed to trec_eval."""

    @property
    def trec_name(self) -> str:
        """The name in the engine's results."""

    @property
    def gains_key(self) -> tuple[str, str]:
        """Measures with the same key have the same gains: they are computed in one call."""

    def integer_gains(self, grades: Mapping[str, float]) -> Mapping[str, int]:
        """Return the engine's input for the query's judgements."""


@dataclass(frozen=True, kw_only=True)
class TrecBinary(Share, BinaryMeasure):
    """A binary measure whose values are the engine's."""

    @property
    @abstractmethod
    def trec_name(self) -> str:
        """The name in the engine's results."""

    @property
    def gains_key(self) -> tuple[str, str]:
        """The threshold; without one, the grades are used as they are, together with nDCG."""
        return ("grades", self.rel)

    def integer_gains(self, grades: Mapping[str, float]) -> Mapping[str, int]:
        """Return the grades, or 1 and 0 by the threshold."""
        return trec_eval.binary_gains(grades, self.rel) if self.rel else trec_eval.integer_gains(grades)

    def score(self, batch: Batch) -> np.ndarray:
        """Return the engine's values."""
        return batch.trec(self)
