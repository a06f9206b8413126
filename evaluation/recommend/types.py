"""What is asked of a recommendation, and what it ends as."""

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
    """What an index may cost; None is no limit."""

    max_chunks: int | None = None
    max_index_mb: float | None = None
    price: float | None = None
    """Of a million tokens to embed."""
    budget: float | None = None
    """What embedding all of the code once may cost, in the same currency."""

    def __post_init__(self) -> None:
        """Raise where a limit is none that anything could keep, or a budget has no price."""
        for name in ("max_chunks", "max_index_mb", "price", "budget"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and (value > 0 or (value == 0 and name == "price"))):
                least = "a number, 0 or above" if name == "price" else "a number above 0"
                raise UsageError(f"{name.replace('_', ' ')} must be {least}, not {value}")
        if self.budget is not None and self.price is None:
            raise UsageError("a budget needs a price: name what embedding a million tokens costs, too")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a candidate costs on all of the code; None where it does not apply or is not known."""

    chunks: int
    mean_nws: float
    tokens: int
    """Of all indexed texts, headers included, in cl100k_base."""
    index_mb: float | None = None
    embed_minutes: float | None = None
    """At the speed at which this embedder has embedded on this machine."""
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
    """The last round in which it was measured; 0 where it never was."""
    rounds: tuple[Interval, ...] = ()
    """Its mean in each round, and in the final on the queries that did not choose the finalists."""
    may_be_best: bool = False
    """Whether no other is shown to be better, and it may be better than the recommended one."""
    better_by: float | None = None
    """What it may be better by than the recommended one (95 %)."""
    behind: float | None = None
    """By how much its mean was below the rival's when it left."""
    rival: str = ""
    uncut: str = ""
    """How many files it failed on, and which, with the errors."""


@dataclass(frozen=True, slots=True)
class Finalist:
    """One of those that were measured on all text."""

    spec: str
    mean: Interval
    """On the queries that did not choose the finalists: not flattered by having been chosen."""
    mean_of_all: float
    """On all queries, which decide."""
    may_be_best: bool
    risk: float
    """What no candidate is better by (95 %)."""
    final_risk: float
    """What no finalist is better by (95 %)."""
    cost: Cost
    same: bool
    """Whether it scored the same as the recommended one on every query, and is another."""


class Gain(NamedTuple):
    """What is gained, with its interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Current:
    """The chunker in use, beside the recommended one."""

    spec: str
    mean: Interval | None
    change: Comparison | None
    """The recommended one minus this; None where they are the same, or cut the code alike."""
    cost: Cost | None
    failed: str = ""
    """Why it could not be measured."""
    uncut: str = ""
    """How many files it failed on, and which, with the errors."""

    @property
    def gain(self) -> Gain | None:
        """What changing to the recommended one gains, above zero where that is the better one."""
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
    """Of all candidates' texts, those that were searched."""


@dataclass(frozen=True)
class Recommendation:
    """The answer, what it risks, and how it was found."""

    dataset: str
    measure: str
    embedder: str
    """Empty where the retriever uses no vectors."""
    retriever: str
    seed: int
    margin: float
    """In the measure's own unit."""
    recommended: str
    leader: str
    """The finalist with the best mean over all queries."""
    may_be_best: tuple[str, ...]
    """Those that no other is shown to be better than, also those that left the race for want of texts."""
    risk: float
    """What no candidate is better by (95 %), however unlike the others the best one is."""
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
    """Whether there may be more queries than the user's limit lets in."""
    uncut: str
    """How many files the recommended one failed on, and which, with the errors: nothing can be found in them."""
    repositories: int
    queries: int
    docstring_queries: int
    """Those whose answer is one definition."""
    failed: Mapping[str, str]
    code: Code

    @property
    def best(self) -> Finalist:
        """The recommended one."""
        return next(each for each in self.finalists if each.spec == self.recommended)
