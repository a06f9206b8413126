"""Worlds in which the quality of every candidate is known, and races in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.bounds import Scored
from evaluation.recommend.candidates import SIZES
from evaluation.recommend.race import Entrant, Outcome, Rules, race

FAMILIES = 7
CANDIDATES = FAMILIES * len(SIZES)
ENTRANTS = [
    Entrant(f"family {family} at {size}", 1_000_000 // size, (1.0 / size,), f"family {family}", float(size))
    for family in range(FAMILIES)
    for size in SIZES
]
NAMES = [entrant.name for entrant in ENTRANTS]
TEXTS = [entrant.texts for entrant in ENTRANTS]
MARGIN = 0.02
_ASKED = (0.16, 0.3)
"""The share of the queries that the rounds use up, of mid-sized repositories."""
SHARES = (0.15, 0.27)
"""The share of each candidate's texts that their passages touch."""
_FOUND = 0.9
"""What a query scores whose answer is found."""

Truth = Callable[[np.random.Generator], np.ndarray]


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
    smaller: float = 1.0
    """What is left of the differences in the rounds, whose files are fewer."""


def _worlds() -> tuple[World, ...]:
    truths: tuple[tuple[str, Truth], ...] = (
        ("flat", flat),
        ("one best", one_best),
        ("nearly equal", nearly_equal),
        ("curved", curved),
    )
    shapes = ((1, 1200), (3, 400), (6, 200), (12, 100), (24, 50))
    plain = [
        World(f"{name}, {count} × {queries}", truth, count, queries, 0.08, 0.01 if count >= 6 else 0.0)
        for name, truth in truths
        for count, queries in shapes
    ]
    noisy = [
        World(f"{name}, noisy, {count} × {queries}", truth, count, queries, 0.4, 0.03 if count >= 6 else 0.0)
        for name, truth in truths
        for count, queries in ((1, 150), (24, 12))
    ]
    few = [
        World(f"{name}, {count} × {queries}", truth, count, queries, 0.08, 0.0)
        for name, truth in truths
        for count, queries in ((1, 40), (1, 150))
    ]
    drifting = [World("curved, rounds show less, 1 × 1200", curved, 1, 1200, 0.08, 0.0, smaller=0.7)]
    return (*plain, *noisy, *few, *drifting)


WORLDS = _worlds()


class Played(NamedTuple):
    """How one race in a world went; shares."""

    loss: float
    """The truly best minus the recommended one."""
    loss_of_grid: float
    """The truly best minus the one with the best mean of all candidates on all queries."""
    risk: float
    bias: float
    """Mean of the finalists' means minus their true means on these repositories."""
    texts: float
    """Share of the grid's texts."""


def play(world: World, rng: np.random.Generator) -> Played:
    """Run one race."""
    truth = world.truth(rng)
    index = np.repeat(np.arange(world.repositories), world.queries)
    leaning = rng.normal(0, world.leaning, (CANDIDATES, world.repositories)) if world.leaning else 0.0
    here: np.ndarray = np.clip(truth[:, None] + leaning + np.zeros((1, world.repositories)), 0.02, 0.88)
    shrunk = here.mean(axis=0) + world.smaller * (here - here.mean(axis=0))
    final, rounds = (_scores(quality[:, index], world.own, rng) for quality in (here, shrunk))
    parts = _parts(world.repositories, world.queries)
    clusters = np.array([f"{k:02}" for k in index])

    def measure(number: int, names: Sequence[str]) -> Scored:
        rows = np.array([NAMES.index(name) for name in names], dtype=np.int64)
        scores = rounds if number < len(parts) - 1 else final
        asked = np.flatnonzero(parts[number])
        return Scored(list(names), scores[np.ix_(rows, asked)], clusters[asked].tolist())

    outcome = race(ENTRANTS, SHARES, measure, Rules(margin=MARGIN))
    if outcome is None:
        raise ValueError("nobody failed, so there is an outcome")
    met = [NAMES.index(name) for name in outcome.finalists]
    means = outcome.rounds[-1].means
    asked = np.unique(index[parts[-1]])
    return Played(
        loss=float(truth.max() - truth[NAMES.index(outcome.recommended)]),
        loss_of_grid=float(truth.max() - truth[int(final.mean(axis=1).argmax())]),
        risk=outcome.risks[outcome.recommended],
        bias=float(np.mean([means[NAMES[k]] - here[k, asked].mean() for k in met])),
        texts=_texts(outcome),
    )


def _scores(quality: np.ndarray, own: float, rng: np.random.Generator) -> np.ndarray:
    """Return scores of 0 or 0.9 with these means: found or not, as most queries are."""
    shared = np.asarray(rng.random(quality.shape[1]))[None, :]
    luck = np.where(rng.random(quality.shape) < own, rng.random(quality.shape), shared)
    return np.asarray((luck < quality / _FOUND) * _FOUND)


def _parts(repositories: int, queries: int) -> list[np.ndarray]:
    """Return which queries each round and the final have: some of every repository's in turn, then all the others."""
    index = np.repeat(np.arange(repositories), queries)
    turn = np.argsort(np.argsort(np.tile(np.arange(queries), repositories) * repositories + index))
    rounds = [turn < share * len(index) for share in _ASKED]
    return [*rounds, ~rounds[-1]]


def _texts(outcome: Outcome) -> float:
    """Return the share of the grid's texts that the race looked at."""
    reached = {name: share for share, each in zip((*SHARES, 1.0), outcome.rounds, strict=True) for name in each.means}
    return sum(reached[name] * texts for name, texts in zip(NAMES, TEXTS, strict=True)) / sum(TEXTS)
