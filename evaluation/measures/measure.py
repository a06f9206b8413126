"""The base of every measure: a value that knows its name, its meaning, and how to score a batch of cases."""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.types import SizeUnit

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch

Need = Literal["grades", "text", "vectors", "nuggets", "reference", "chunks", "space"]
"""The parts of a case; ``chunks`` is every chunk of the files that hold gold (`TextCase.chunks`)."""

Unit = Literal["share", "number", "count", "tokens", "nws", "lines"]
"""What a value counts. A share is shown in points of 100; everything else is shown as it is."""

Direction = Literal["higher", "lower", "none"]
"""Which direction is better; ``none`` for context that is neither."""

SUFFIX: dict[SizeUnit, str] = {"tokens": "tok", "nws": "nws", "lines": "lines"}
"""How a unit is written after a budget: recall@4000tok."""

UNIT_WORDS: dict[SizeUnit, str] = {"tokens": "tokens", "nws": "non-whitespace characters", "lines": "lines"}
"""The unit in words."""

_LARGEST_CUTOFF = 1_000_000
_LARGEST_BUDGET = 1_000_000_000
_THRESHOLD = re.compile(r"(>=|>)?(\d+(?:\.\d+)?)\Z")


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A measure with its parameters; two with the same parameters are equal, whatever their spelling was.

    Everything that a table, a verdict or a gate must know about a value is declared here. Nothing is guessed from the
    name: a measure that declares no unit is a plain number and is printed as such.
    """

    version: ClassVar[str] = "1"
    label: ClassVar[str]
    """The name before the cutoff."""
    pattern: ClassVar[str]
    """The pattern of the name, with letters for the numbers."""
    definition: ClassVar[str]
    """One sentence: the formula in words."""
    template: ClassVar[str] = ""
    """`words` with {top} for "the first 5 results" and {budget} for "4,000 tokens"."""
    citation: ClassVar[str]
    needs: ClassVar[frozenset[Need]]
    properties: ClassVar[frozenset[str]] = frozenset()
    """The properties that the audit must find."""
    unit: ClassVar[Unit] = "number"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    direction: ClassVar[Direction] = "higher"
    comparable: ClassVar[bool] = False
    """Whether chunkers may be compared by it: not if ranks or ids are counted, which each chunker makes its own of.

    Comparable measures form the fair table, the others the published one.
    """
    centre: ClassVar[Literal["mean", "median"]] = "mean"
    """The summary over queries. Median: undefined means "never", which a mean over the others would hide."""
    whole: ClassVar[bool] = False
    """Whether the measure itself takes the best of a case's alternative answers; otherwise `evaluate` does."""
    positional: ClassVar[str | None] = None
    """The option that may be written without its name, as in tokens_to_recall(0.8)."""

    if TYPE_CHECKING:

        @property
        def cutoff(self) -> int | None:
            """The number of results read; None for all of them, or if a budget decides."""

        @property
        def budget(self) -> int | None:
            """The units of text read, or None."""

        @property
        def budget_unit(self) -> SizeUnit | None:
            """The unit of the budget, or None."""
    else:
        # A property could not be overridden by a field, and an annotation would make these fields of every measure.
        cutoff = budget = budget_unit = None

    @property
    def cut(self) -> str:
        """The part of the name after the @, or nothing."""
        return ""

    @property
    def name(self) -> str:
        """The canonical spelling, which `parse_measure` reads back."""
        options = [
            _written(field.name, getattr(self, field.name), bare=field.name == self.positional)
            for field in dataclasses.fields(self)
            if field.name not in {"cutoff", "budget", "budget_unit"} and getattr(self, field.name) != field.default
        ]
        head = f"{self.label}@{self.cut}" if self.cut else self.label
        return f"{head}({','.join(options)})" if options else head

    @property
    def budget_words(self) -> str:
        """The budget in words, "4,000 tokens", or nothing."""
        if self.budget is None or self.budget_unit is None:
            return ""
        return f"{self.budget:,} {UNIT_WORDS[self.budget_unit]}"

    @property
    def words(self) -> str:
        """The meaning of a value, in plain words and without the measure's name."""
        results = "result" if self.cutoff == 1 else "results"
        top = "all results" if self.cutoff is None else f"the first {self.cutoff:,} {results}"
        options = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        text = self.template or self.definition
        return text.format(**{**options, "top": top, "budget": self.budget_words})

    @property
    def units(self) -> frozenset[SizeUnit]:
        """The units whose rulers the cases must carry."""
        return frozenset()

    @property
    def parts(self) -> tuple[Measure, ...]:
        """The measures that this one is made of, other than itself."""
        return ()

    @abstractmethod
    def score(self, batch: Batch) -> np.ndarray:
        """Return one value per case of the batch, NaN if the measure is undefined."""

    def __call__(
        self,
        ranking: Iterable[str] | Mapping[str, float],
        relevant: Collection[str] | Mapping[str, float] | None = None,
        *,
        vectors: Mapping[str, Sequence[float]] | Sequence[Sequence[float]] | np.ndarray | None = None,
        nuggets: Mapping[str, Collection[int]] | None = None,
        reference: Iterable[str] | Mapping[str, float] | None = None,
    ) -> float:
        """Return the score of one ranking: ids, best first, or ids with their scores.

        ``relevant`` holds the relevant ids, or ids with their grades. ``vectors`` holds the embedding of each result,
        by id or in rank order, of length 1. ``nuggets`` gives the parts of the answer that each judged id holds.
        ``reference`` is the ranking to correlate with.
        """
        from evaluation.measures.single import score_ranking

        return score_ranking(self, ranking, relevant, vectors=vectors, nuggets=nuggets, reference=reference)


class Share:
    """Mixin for a measure whose values are shares of something, from 0 to 1 unless declared otherwise."""

    unit: ClassVar[Unit] = "share"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class RankedMeasure(Measure):
    """A measure of the first ``cutoff`` results, or of all of them."""

    cutoff: int | None = None
    needs: ClassVar[frozenset[Need]] = frozenset({"grades"})
    needs_cutoff: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.cutoff is None and self.needs_cutoff:
            raise UsageError(f"{self.label} needs a cutoff: write {self.label}@5")
        if self.cutoff is not None and not 1 <= self.cutoff <= _LARGEST_CUTOFF:
            raise UsageError(f"the cutoff of {self.label} must be from 1 to {_LARGEST_CUTOFF:,}, not {self.cutoff}")

    @property
    def cut(self) -> str:
        """The number of results, or nothing for all of them."""
        return "" if self.cutoff is None else str(self.cutoff)


@dataclass(frozen=True, kw_only=True)
class BinaryMeasure(RankedMeasure):
    """A ranked measure that only distinguishes relevant results from others."""

    rel: str = ""
    """Which grades are relevant: ">=2", ">0.5" or "2" (at least 2); empty: all above 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rel", threshold_text(self.rel))


@dataclass(frozen=True, kw_only=True)
class BudgetMeasure(Measure):
    """A measure of the gold text inside the first ``budget`` units that are read."""

    # field(): without it the None above would be taken as the default.
    budget: int = dataclasses.field()
    budget_unit: SizeUnit = "tokens"
    needs: ClassVar[frozenset[Need]] = frozenset({"text"})
    comparable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.budget <= _LARGEST_BUDGET:
            raise UsageError(f"the budget of {self.label} must be from 1 to {_LARGEST_BUDGET:,}, not {self.budget}")

    @property
    def cut(self) -> str:
        """The budget with its unit."""
        return f"{self.budget}{SUFFIX[self.budget_unit]}"

    @property
    def units(self) -> frozenset[SizeUnit]:
        """The budget's unit."""
        return frozenset({self.budget_unit})


def threshold_text(rel: str) -> str:
    """Return the threshold as ">=2" or ">0.5"; empty stays empty."""
    if not rel:
        return ""
    match = _THRESHOLD.match(rel.replace(" ", ""))
    sign, number = (match[1] or ">=", float(match[2])) if match else ("", 0.0)
    if not number and sign != ">":
        said = rel.replace("_", "-")  # as written: names of measures may have either
        raise UsageError(f"rel is {said!r}; write rel>=2, rel>0.5 or rel=2 (at least 2): a grade of 0 is not relevant")
    text = f"{sign}{number:g}"
    return "" if text == ">0" else text


def relevance(rel: str) -> Callable[[Any], Any]:
    """Return the condition that a grade, or each of an array of grades, must meet to count as relevant."""
    text = threshold_text(rel)
    if not text:
        return lambda grade: grade > 0
    if text.startswith(">="):
        least = float(text[2:])
        # A grade of 0 is "judged, not relevant", whatever the threshold.
        return lambda grade: (grade >= least) & (grade > 0)
    bound = float(text[1:])
    return lambda grade: grade > bound


def _written(name: str, value: object, *, bare: bool) -> str:
    if name == "rel":
        return f"rel{value}"
    text = str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    return text if bare else f"{name}={text}"
