"""Worlds in which the quality of every candidate is known, and races in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.bounds import Scored
from evaluation.recommend.candidates import SIZES
from evaluation.recommend.estimating import Entrant, Queries, Rules
from evaluation.recommend.race import race

FAMILIES = 7
CANDIDATES = FAMILIES * len(SIZES)
LOGS = np.tile(np.log(SIZES), FAMILIES)
MARGIN = 0.02
_SHARES = (0.13, 0.25)
"""The share of a candidate's texts that the round's passages touch: for the smallest chunks and the largest."""
_SCOUTS = (500, 1500, 4000)
"""Sizes of one family that search everything first, and whose chunks surround the passages."""
_FOUND = 0.9
"""The score of a query whose answer is found."""
_LEVEL, _FAMILY, _OWN = 0.015, 0.025, 0.012
"""The effect of all text, for all candidates, for a family and for one candidate: standard deviations."""
_SLOPE, _SLOPES = -0.05, 0.02
"""Its effect on chunks e times as large as those around the passages: mean and standard deviation. All are as observed
on thirteen repositories, searched by words."""

Truth = Callable[[np.random.Generator], np.ndarray]


def _entrants() -> list[Entrant]:
    found: list[Entrant] = []
    first = 0
    for family in range(FAMILIES):
        for place, size in enumerate(SIZES):
            count = 1_000_000 // size // 10
            part = place / (len(SIZES) - 1)
            share = _SHARES[0] + part * (_SHARES[1] - _SHARES[0])
            texts = [np.arange(first, first + round(share * count)), np.arange(first, first + count)]
            near = min(_SCOUTS, key=lambda scout: abs(np.log(scout / size)))
            name = f"family {family} at {size}"
            found.append(Entrant(name, texts, (1.0 / size,), f"family {family}", float(size), float(near)))
            first += count
    return found


ENTRANTS = _entrants()
NAMES = [entrant.name for entrant in ENTRANTS]
SCOUTS = [entrant.name for entrant in ENTRANTS if entrant.size in _SCOUTS and entrant.family == "family 0"]
LARGER = np.log([entrant.size / entrant.around for entrant in ENTRANTS])


def flat(_: np.random.Generator) -> np.ndarray:
    """Return the same quality for all candidates."""
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
    """Return qualities as in size sweeps: families a few points apart, each best at one size and worse around it."""
    sizes = np.log(SIZES)
    peak = rng.uniform(sizes[0], sizes[-1])
    families = rng.normal(0, 0.02, FAMILIES)
    truth = (families[:, None] - 0.035 * np.square(sizes - peak)[None, :]).reshape(-1)
    return np.asarray(0.65 + truth - truth.max())


def steep(rng: np.random.Generator) -> np.ndarray:
    """Return qualities as on repositories: sizes differ by tens of points, families by several, most at small sizes."""
    sizes = np.log(SIZES)
    slope, peak = rng.uniform(0.02, 0.16), rng.uniform(sizes[0] - 0.5, sizes[2])
    families = rng.normal(0, 0.04, FAMILIES)[:, None] * (sizes[-1] - sizes)[None, :] / (sizes[-1] - sizes[0])
    truth = families - slope * np.abs(sizes - peak)[None, :] + rng.normal(0, 0.01, (FAMILIES, len(SIZES)))
    return np.asarray((0.65 + truth - truth.max()).reshape(-1).clip(0.05, None))


class World(NamedTuple):
    """A truth, the repositories in which it is observed, and the noise."""

    name: str
    truth: Truth
    repositories: int
    queries: int
    """In each repository."""
    own: float
    """The share of queries on which a candidate's luck is its own; on the others it is shared by all."""
    leaning: float
    """Standard deviation of how much repositories differ in which candidates they favour."""
    passages: bool = True
    """Whether the round's passages favour some candidates more than others."""
    asked: int = 6
    """Of every six queries, four choose the finalists; of these the round asks those below this: 6 are all, 2 a
    quarter."""


def _worlds() -> tuple[World, ...]:
    truths: tuple[tuple[str, Truth], ...] = (
        ("flat", flat),
        ("one best", one_best),
        ("nearly equal", nearly_equal),
        ("curved", curved),
        ("steep", steep),
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
    few = [
        World(f"{name}, few asked, {count} × {queries}", truth, count, queries, 0.2, 0.005, asked=2)
        for name, truth in truths
        for count, queries in ((1, 600), (40, 24))
    ]
    return (*plain, *noisy, *quiet, *even, *few)


WORLDS = _worlds()


class Played(NamedTuple):
    """The outcome of one race in a world, as shares."""

    loss: float
    """The truly best minus the recommended one."""
    loss_of_grid: float
    """The truly best minus the one with the best mean of all candidates on all queries."""
    risk: float
    final_risk: float
    """Against the finalists alone."""
    likely_loss: float
    """The stated likely loss; above the margin there is too little data."""
    kept: float
    """Whether the truly best is among those that may be best, 0 or 1; 1 if there are several."""
    may_be_best: float
    """The number of candidates that may be best."""
    bias: float
    """Mean of the finalists' means, on queries that did not choose them, minus their true means here."""
    winner_bias: float
    """The stated mean of the recommended one minus its true mean here."""
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
    among = (luck < _among_passages(here, world, rng)[:, index] / _FOUND) * _FOUND
    choosing = np.tile(np.arange(world.queries) % 3 > 0, world.repositories)
    asked = choosing & np.tile(np.arange(world.queries) % 6 < world.asked, world.repositories)
    clusters = np.array([f"{k:02}" for k in index])

    def measure(number: int, names: Sequence[str]) -> Scored:
        rows = np.array([NAMES.index(name) for name in names], dtype=np.int64)
        if number:
            return Scored(list(names), final[rows], clusters.tolist())
        return Scored(list(names), among[np.ix_(rows, np.flatnonzero(asked))], clusters[asked].tolist())

    outcome = race(ENTRANTS, measure, Rules(margin=MARGIN), queries=Queries(choosing, asked), scouts=SCOUTS)
    if outcome is None:
        raise ValueError("nobody failed, so there is an outcome")
    fresh = outcome.rounds[-1].scored.on(~choosing)
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
    """Return the difficulty of each query for each candidate: a query is answered if it is below the quality."""
    shared = np.asarray(rng.random(queries))[None, :]
    alone = rng.random((candidates, queries)) < own
    return np.where(alone, rng.random((candidates, queries)), shared)


def _among_passages(here: np.ndarray, world: World, rng: np.random.Generator) -> np.ndarray:
    """Return the qualities among the round's passages; for scouts, which surround them, they are those of all text."""
    if not world.passages:
        return here
    family = np.repeat(rng.normal(0, _FAMILY, FAMILIES), len(SIZES))
    changes = rng.normal(0, _LEVEL) + rng.normal(_SLOPE, _SLOPES) * LARGER + family + rng.normal(0, _OWN, CANDIDATES)
    changes[[NAMES.index(name) for name in SCOUTS]] = 0.0
    return np.asarray(np.clip(here - changes[:, None], 0.02, 0.88))
