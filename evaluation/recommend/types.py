"""The input and output of a recommendation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal, NamedTuple

from chunkers.errors import UsageError
from evaluation.recommend.paste import Code
from evaluation.statistics import Comparison, Interval

Fate = Literal["finalist", "worse", "behind", "over the limit", "same chunks", "failed"]
"""How far a candidate came, or why no further: ``worse`` is shown not to be best, ``behind`` may still be best."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the cost of an index; None is no limit."""

    max_chunks: int | None = None
    max_index_mb: float | None = None
    price: float | None = None
    """Price of embedding a million tokens."""
    budget: float | None = None
    """What embedding all of the code once may cost, in the same currency."""

    def __post_init__(self) -> None:
        """Raise if a limit cannot be met by anything, or a budget has no price."""
        for name in ("max_chunks", "max_index_mb", "price", "budget"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and (value > 0 or (value == 0 and name == "price"))):
                least = "a number, 0 or above" if name == "price" else "a number above 0"
                raise UsageError(f"{name.replace('_', ' ')} must be {least}, not {value}")
        if self.budget is not None and self.price is None:
            raise UsageError("a budget needs a price: name what embedding a million tokens costs, too")


@dataclass(frozen=True, slots=True)
class Cost:
    """A candidate's cost on all of the code; None if it does not apply or is unknown."""

    chunks: int
    mean_nws: float
    tokens: int
    """Of all indexed texts, including headers, in cl100k_base."""
    index_mb: float | None = None
    embed_minutes: float | None = None
    """At the speed at which this embedder has worked on this machine."""
    price: float | None = None
    query_p50_ms: float | None = None
    query_p95_ms: float | None = None


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """One candidate: how far it came, and why no further. Scores are in the measure's own unit."""

    spec: str
    family: str
    fate: Fate
    reason: str
    chunks: int = 0
    mean_nws: float = 0.0
    tokens: int = 0
    texts: int = 0
    """Distinct texts on all of the code."""
    round: int = 0
    """The last round in which it was measured; 0 if none."""
    rounds: tuple[Interval, ...] = ()
    """Its mean in each round, and in the final on the queries that did not choose the finalists."""
    may_be_best: bool = False
    """Whether no other is shown to be better, and it may be better than the recommended one."""
    better_by: float | None = None
    """Its possible advantage over the recommended one (95 %)."""
    behind: float | None = None
    """How far its mean was below the rival's when it left."""
    rival: str = ""
    uncut: str = ""
    """The number and names of the files it failed on, with the errors."""


@dataclass(frozen=True, slots=True)
class Finalist:
    """A candidate measured on all text."""

    spec: str
    mean: Interval
    """On the queries that did not choose the finalists: not flattered by having been chosen."""
    mean_of_all: float
    """On all queries, which decide."""
    may_be_best: bool
    risk: float
    """The amount by which no candidate is better (95 %)."""
    final_risk: float
    """The amount by which no finalist is better (95 %)."""
    cost: Cost
    same: bool
    """Whether it scored the same as the recommended one on every query, and is a different one."""


class Gain(NamedTuple):
    """The gain, with its interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Current:
    """The chunker in use, beside the recommended one."""

    spec: str
    mean: Interval | None
    change: Comparison | None
    """The recommended one minus this; None if they are the same, or cut the code identically."""
    cost: Cost | None
    failed: str = ""
    """Why it could not be measured."""
    uncut: str = ""
    """The number and names of the files it failed on, with the errors."""

    @property
    def gain(self) -> Gain | None:
        """The gain of changing to the recommended one, positive if that is the better one."""
        if self.change is None:
            return None
        difference, low, high = self.change.difference, self.change.low, self.change.high
        return Gain(difference, low, high) if self.change.higher_is_better else Gain(-difference, -high, -low)


class RoundFacts(NamedTuple):
    """What a round was measured on."""

    candidates: int
    queries: int
    repositories: int
    files: int
    share: float
    """The share of all candidates' texts that were searched."""


@dataclass(frozen=True)
class Recommendation:
    """The answer, its risk, and how it was found."""

    dataset: str
    measure: str
    embedder: str
    """Empty if the retriever uses no vectors."""
    retriever: str
    seed: int
    margin: float
    """In the measure's own unit."""
    recommended: str
    leader: str
    """The finalist with the best mean over all queries."""
    may_be_best: tuple[str, ...]
    """Those that no other is shown to be better than, including those that left the race for having too many texts."""
    risk: float
    """The amount by which no candidate is better (95 %), however unlike the others the best one is."""
    loss: float
    """The same, judged by what families and near sizes have in common: above the margin there is too little data."""
    finalists: tuple[Finalist, ...]
    candidates: tuple[CandidateRecord, ...]
    rounds: tuple[RoundFacts, ...]
    """The last one is the final."""
    embedded_texts: int
    grid_texts: int
    seconds: float
    price: float | None
    current: Current | None
    detectable: float | None
    """The smallest true difference that the final shows with 80 % power."""
    caveats: tuple[str, ...]
    mined: bool
    history: bool
    """Whether every repository has commits that no query was mined from."""
    limited: bool
    """Whether there may be more queries than the user's limit allows."""
    uncut: str
    """The number and names of the files the recommended one failed on, with the errors: nothing can be found in them.
    """
    repositories: int
    queries: int
    docstring_queries: int
    """Queries whose answer is one definition."""
    failed: Mapping[str, str]
    code: Code
    fallbacks: str = ""
    """The number of files the recommended one cut some other way than its name promises, and why."""

    @property
    def best(self) -> Finalist:
        """The recommended one."""
        return next(each for each in self.finalists if each.spec == self.recommended)
