"""A measure's chance level, its ceiling, and its value between the two, as measures themselves.

`chance(naurc@4000tok)` is the expected score of a random ranking of the same chunks, `ceiling(naurc@4000tok)` that of a
perfect one, and `normalised(naurc@4000tok)` is 0 at chance and 1 at the ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.measures.ceiling import ceilings
from evaluation.measures.chance import chance, has_chance
from evaluation.measures.evaluate import best_scores, variants
from evaluation.measures.measure import Measure, Need
from evaluation.types import Case

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch

_MEANING = ("unit", "range", "direction", "comparable", "cutoff", "budget", "budget_unit")


@dataclass(frozen=True, kw_only=True)
class Level(Measure):
    """A measure about another measure, whose meaning it takes over."""

    of: Measure
    needs: ClassVar[frozenset[Need]] = frozenset({"space"})
    whole: ClassVar[bool] = True
    prefix: ClassVar[str]
    """What precedes the words of the measure."""

    def __post_init__(self) -> None:
        if not has_chance(self.of):
            raise UsageError(
                f"{self.label} of {self.of.name} is not known: it is for measures of text at a budget, such as "
                "naurc@4000tok, and for ndcg, ndcg_exp, precision, recall, hit, mrr, map and ap_capped"
            )
        for name in _MEANING:
            object.__setattr__(self, name, getattr(self.of, name))
        object.__setattr__(self, "needs", self.of.needs | {"space"})

    @property
    def name(self) -> str:
        """The measure's name in brackets."""
        return f"{self.label}({self.of.name})"

    @property
    def words(self) -> str:
        """The level's meaning in words."""
        return f"{self.prefix}: {self.of.words}"

    @property
    def parts(self) -> tuple[Measure, ...]:
        """The measure."""
        return (self.of,)

    @property
    def units(self) -> frozenset[SizeUnit]:
        """The units of the measure."""
        return self.of.units


@dataclass(frozen=True, kw_only=True)
class Chance(Level):
    """The expected score of a uniformly random ranking of the same search space."""

    label: ClassVar[str] = "chance"
    pattern: ClassVar[str] = "chance(M)"
    prefix: ClassVar[str] = "what a random ranking of the same chunks reaches"
    definition: ClassVar[str] = "expected score of a uniformly random ranking of the same search space"
    citation: ClassVar[str] = "this project; closed form on ids, exact integral over arrival times on text"

    def score(self, batch: Batch) -> np.ndarray:
        """Return the level of each case."""
        return batch.each(lambda case: chance(self.of, case))


@dataclass(frozen=True, kw_only=True)
class Ceiling(Level):
    """The score of the best ranking of the same search space."""

    label: ClassVar[str] = "ceiling"
    pattern: ClassVar[str] = "ceiling(M)"
    prefix: ClassVar[str] = "what a perfect ranking of the same chunks reaches"
    definition: ClassVar[str] = "score of the best ranking of the same search space, of the best answer it has"
    citation: ClassVar[str] = "this project; search over the sets of chunks read so far"

    def score(self, batch: Batch) -> np.ndarray:
        """Return the level of each case; of several answers, that of the one that can be shown best."""
        answers = [variants(case) for case in batch.cases]
        best = ceilings(self.of, list(chain.from_iterable(answers)))
        begins = np.cumsum([0, *map(len, answers)])[:-1]
        return np.maximum.reduceat(best, begins) if len(begins) else best


@dataclass(frozen=True, kw_only=True)
class Normalised(Level):
    """The score on a scale from chance (0) to the ceiling (1); undefined if the two are equal."""

    label: ClassVar[str] = "normalised"
    pattern: ClassVar[str] = "normalised(M)"
    prefix: ClassVar[str] = "from a random ranking (0) to a perfect one (1)"
    definition: ClassVar[str] = "(score - chance)/(ceiling - chance); undefined where chance alone is perfect"
    citation: ClassVar[str] = "this project; Cohen 1960's correction for chance, with the chunks' own ceiling"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "range", (-np.inf, 1.0))

    def score(self, batch: Batch) -> np.ndarray:
        """Return the position of each case's score between its two levels."""
        low, high = Chance(of=self.of).score(batch), Ceiling(of=self.of).score(batch)
        room = high - low
        defined = room > 1e-9
        values = np.full(len(batch), np.nan)
        values[defined] = ((best_scores(self.of, batch.cases) - low) / np.where(defined, room, 1.0))[defined]
        return values


LEVELS: dict[str, type[Level]] = {"chance": Chance, "ceiling": Ceiling, "normalised": Normalised}


def levels_of(measure: Measure, cases: Sequence[Case]) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance level and the ceiling of each case."""
    from evaluation.measures.batch import Batch

    batch = Batch(cases, [measure])
    return Chance(of=measure).score(batch), Ceiling(of=measure).score(batch)
