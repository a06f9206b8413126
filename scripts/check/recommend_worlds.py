"""Worlds in which the quality of every candidate is known, and races in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.bounds import Scored
from evaluation.recommend.candidates import SIZES
from evaluation.recommend.race import Entrant, Rules, race

FAMILIES = 7
CANDIDATES = FAMILIES * len(SIZES)
LOGS = np.tile(np.log(SIZES), FAMILIES)
MARGIN = 0.02
_SHARES = ((0.13, 0.25),)
"""The share of a candidate's texts that each round's passages touch: of the smallest chunks and of the largest."""
_SCOUTS = (500, 1500, 4000)
"""Sizes of one family that search everything first; the largest of every other family do too."""
_FOUND = 0.9
"""What a query scores whose answer is found."""
_EASIER, _FOR_SMALL, _FOR_FAMILY, _FOR_ONE = 0.12, 0.04, 0.03, 0.015
"""Among passages all find more: the more so the smaller their chunks (for a size that is e times as large), some
families more than others and some candidates more than others (standard deviations), as on gin and flask, searched by
words."""

Truth = Callable[[np.random.Generator], np.ndarray]


def _entrants() -> list[Entrant]:
    found: list[Entrant] = []
    first = 0
    for family in range(FAMILIES):
        for place, size in enumerate(SIZES):
            count = 1_000_000 // size // 10
            part = place / (len(SIZES) - 1)
            shares = [small + part * (large - small) for small, large in _SHARES]
            texts = [np.arange(first, first + round(share * count)) for share in (*shares, 1.0)]
            found.append(Entrant(f"family {family} at {size}", texts, (1.0 / size,), f"family {family}", float(size)))
            first += count
    return found


ENTRANTS = _entrants()
NAMES = [entrant.name for entrant in ENTRANTS]
SCOUTS = [
    entrant.name for entrant in ENTRANTS if entrant.size in (_SCOUTS if entrant.family == "family 0" else (SIZES[-1],))
]


def flat(_: np.random.Generator) -> np.ndarray:
    """Return the same quality for everyone."""
    return np.full(CANDIDATES, 0.6)


def one_best(rng: np.random.Generator) -> np.ndarray:
    """Return a quality that one candidate exceeds by eight points."""
    truth = np.full(CANDIDATES, 0.55)
    truth[rng.integers(CANDIDATES)] += 0.08
    return truth


def nearly_equal(rng: np.random.Generator) -> np.ndarray:
    """Return qualities that differ by less than a point from one another, most of them."""
    return np.asarray(0.6 + rng.normal(0, 0.005, CANDIDATES))


def curved(rng: np.random.Generator) -> np.ndarray:
    """Return what sweeps of sizes look like: families a few points apart, each best at one size and worse around it."""
    sizes = np.log(SIZES)
    peak = rng.uniform(sizes[0], sizes[-1])
    families = rng.normal(0, 0.02, FAMILIES)
    truth = (families[:, None] - 0.035 * np.square(sizes - peak)[None, :]).reshape(-1)
    return np.asarray(0.65 + truth - truth.max())


class World(NamedTuple):
    """A truth, the repositories in which it is seen, and the noise through which."""

    name: str
    truth: Truth
    repositories: int
    queries: int
    """In each repository."""
    own: float
    """The share of queries on which a candidate's luck is its own; on the others it is everybody's."""
    leaning: float
    """How much repositories differ in whom they favour: standard deviation."""
    passages: bool = True
    """Whether the rounds' passages favour some candidates more than others."""


def _worlds() -> tuple[World, ...]:
    truths: tuple[tuple[str, Truth], ...] = (
        ("flat", flat),
        ("one best", one_best),
        ("nearly equal", nearly_equal),
        ("curved", curved),
    )
    shapes = ((1, 40), (1, 150), (1, 600), (6, 100), (24, 12), (40, 25))
    plain = [
        World(f"{name}, {count} × {queries}", truth, count, queries, 0.2, 0.01 if count >= 6 else 0.0)
        for name, truth in truths
        for count, queries in shapes
    ]
    noisy = [
        World(f"{name}, noisy, {count} × {queries}", truth, count, queries, 0.4, 0.03 if count >= 6 else 0.0)
        for name, truth in truths
        for count, queries in ((1, 150), (24, 12))
    ]
    quiet = [
        World(f"{name}, quiet, {count} × {queries}", truth, count, queries, 0.05, 0.005)
        for name, truth in truths
        for count, queries in ((1, 600), (40, 25))
    ]
    even = [World("curved, even passages, 24 × 12", curved, 24, 12, 0.2, 0.01, passages=False)]
    return (*plain, *noisy, *quiet, *even)


WORLDS = _worlds()


class Played(NamedTuple):
    """How one race in a world went; shares."""

    loss: float
    """The truly best minus the recommended one."""
    loss_of_grid: float
    """The truly best minus the one with the best mean of all candidates on all queries."""
    risk: float
    final_risk: float
    """Against the finalists alone."""
    likely_loss: float
    """What is believed to be lost at most; above the margin there is too little data."""
    kept: float
    """Whether the truly best is among those that may be best, 0 or 1; 1 where several are."""
    may_be_best: float
    """How many may be best."""
    bias: float
    """Mean of the finalists' means, on queries that no round has asked, minus their true means here."""
    winner_bias: float
    """What is stated as the recommended one's mean minus its true mean here."""
    texts: float
    """Share of the grid's texts."""


def play(world: World, rng: np.random.Generator) -> Played:
    """Run one race."""
    truth = world.truth(rng)
    index = np.repeat(np.arange(world.repositories), world.queries)
    leaning = rng.normal(0, world.leaning, (CANDIDATES, world.repositories)) if world.leaning else 0.0
    here: np.ndarray = np.clip(truth[:, None] + leaning + np.zeros((1, world.repositories)), 0.02, 0.88)
    luck = _luck(CANDIDATES, len(index), world.own, rng)
    final = (luck < here[:, index] / _FOUND) * _FOUND
    rounds = [(luck < _among_passages(here, world, rng)[:, index] / _FOUND) * _FOUND for _ in _SHARES]
    seen = np.tile(np.arange(world.queries) % 3 > 0, world.repositories)
    clusters = np.array([f"{k:02}" for k in index])

    def measure(number: int, names: Sequence[str]) -> Scored:
        rows = np.array([NAMES.index(name) for name in names], dtype=np.int64)
        if number == len(rounds):
            return Scored(list(names), final[rows], clusters.tolist())
        return Scored(list(names), rounds[number][np.ix_(rows, np.flatnonzero(seen))], clusters[seen].tolist())

    outcome = race(ENTRANTS, measure, Rules(margin=MARGIN), seen=seen, scouts=SCOUTS)
    if outcome is None:
        raise ValueError("nobody failed, so there is an outcome")
    fresh = outcome.rounds[-1].scored.on(~seen)
    met = [NAMES.index(name) for name in fresh.names]
    above = fresh.values.mean(axis=1) - here[met].mean(axis=1)
    recommended = NAMES.index(outcome.recommended)
    belief = outcome.beliefs[outcome.recommended]
    best = {NAMES[k] for k in np.flatnonzero(truth >= truth.max())}
    return Played(
        loss=float(truth.max() - truth[recommended]),
        loss_of_grid=float(truth.max() - truth[int(final.mean(axis=1).argmax())]),
        risk=belief.risk,
        final_risk=belief.final_risk,
        likely_loss=belief.loss,
        kept=float(bool(best & set(outcome.may_be_best))),
        may_be_best=len(outcome.may_be_best),
        bias=float(above.mean()),
        winner_bias=belief.mean - float(here[recommended].mean()),
        texts=outcome.embedded / outcome.grid,
    )


def _luck(candidates: int, queries: int, own: float, rng: np.random.Generator) -> np.ndarray:
    """Return the difficulty of each query for each candidate: a query is found where it is below the quality."""
    shared = np.asarray(rng.random(queries))[None, :]
    alone = rng.random((candidates, queries)) < own
    return np.where(alone, rng.random((candidates, queries)), shared)


def _among_passages(here: np.ndarray, world: World, rng: np.random.Generator) -> np.ndarray:
    """Return the qualities among a round's passages."""
    if not world.passages:
        return np.clip(here + _EASIER, 0.02, 0.88)
    family = np.repeat(rng.normal(0, _FOR_FAMILY, FAMILIES), len(SIZES))
    easier = _EASIER + _FOR_SMALL * (LOGS.mean() - LOGS) + family + rng.normal(0, _FOR_ONE, CANDIDATES)
    return np.asarray(np.clip(here + easier[:, None], 0.02, 0.88))
