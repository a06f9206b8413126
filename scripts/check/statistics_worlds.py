"""Worlds in which the true difference is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

SWE_BENCH_LITE = (114, 77, 23, 23, 17, 16, 6, 6, 6, 5, 5, 5, 5, 5, 4, 3, 2, 1)
"""Queries per repository of SWE-bench Lite, development and test split, counted once."""

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


class Line(NamedTuple):
    """One figure and its target; a figure within three standard errors of the target meets it."""

    what: str
    where: str
    found: float
    target: float
    runs: int
    at_least: bool = False

    @property
    def ok(self) -> bool:
        """Whether the target is met, up to the error of the simulation."""
        error = 3 * math.sqrt(self.target * (1 - self.target) / self.runs)
        return self.found >= self.target - error if self.at_least else self.found <= self.target + error

    def text(self) -> str:
        """Return the line for people."""
        sign = "≥" if self.at_least else "≤"
        said = f"{self.what}: {self.where}"
        return f"{'ok ' if self.ok else 'BAD'} {said:<100} {self.found:.3f} ({sign} {self.target})"


class World(NamedTuple):
    """Differences of queries in repositories: an effect of the repository and one of the query, each with mean 0."""

    name: str
    sizes: tuple[int, ...]
    """Queries per repository; empty for sizes drawn each time, lognormal between 3 and 400."""
    repositories: int
    of_repository: Draw
    of_query: Draw
    skewed: bool

    @property
    def equal(self) -> bool:
        """Whether all repositories have equally many queries: then the weight does not matter."""
        return len(set(self.sizes)) == 1

    def draw(self, rng: np.random.Generator, runs: int) -> tuple[np.ndarray, list[str]]:
        """Return [runs × queries] differences with a true mean of 0, and the repository of each query."""
        sizes = np.array(self.sizes or np.clip(rng.lognormal(3, 1.2, self.repositories), 3, 400), dtype=int)
        index = np.repeat(np.arange(len(sizes)), sizes)
        effects = self.of_repository(rng, (runs, len(sizes)))
        return effects[:, index] + self.of_query(rng, (runs, len(index))), index.astype(str).tolist()


def nothing(_: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """No effect."""
    return np.zeros(shape)


def normal(deviation: float) -> Draw:
    """Return a symmetric effect."""
    return lambda rng, shape: rng.normal(0, deviation, shape).clip(-0.6, 0.6)


def exponential(deviation: float) -> Draw:
    """Return a skewed effect: most lose a little, few gain much."""
    return lambda rng, shape: deviation * (rng.exponential(1, shape) - 1)


def lognormal(deviation: float) -> Draw:
    """Return a skewed effect with a long tail: its skewness is 6."""
    scale = deviation / math.sqrt((math.e - 1) * math.e)
    return lambda rng, shape: (scale * (rng.lognormal(0, 1, shape) - math.exp(0.5))).clip(-0.6, 0.6)


def rare_gain(share: float, gain: float) -> Draw:
    """Return a large gain in a share of cases and a small loss in the others."""
    return lambda rng, shape: np.where(rng.random(shape) < share, gain, -gain * share / (1 - share))


def heavy(deviation: float) -> Draw:
    """Return a symmetric effect with Student's heavy tails at 3 degrees of freedom."""
    return lambda rng, shape: (deviation / math.sqrt(3) * rng.standard_t(3, shape)).clip(-0.9, 0.9)


def inflated(share: float, deviation: float) -> Draw:
    """Return an effect that is 0 except in a share of cases."""
    return lambda rng, shape: (rng.random(shape) < share) * rng.normal(0, deviation, shape).clip(-0.9, 0.9)


def rare_loss(share: float, noise: float) -> Draw:
    """Return a small gain nearly always and a large loss in a share of cases."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        gain = 0.9 * share / (1 - share)
        losses = np.where(rng.random(shape) < share, -0.9, gain)
        return np.asarray(losses + rng.normal(0, noise, shape).clip(-0.09, 0.09))

    return draw


def ternary(share: float) -> Draw:
    """Return differences of scores of 0 and 1: a share is won or lost, the rest are ties."""
    return lambda rng, shape: (rng.random(shape) < share) * rng.choice([-1.0, 1.0], shape)


def _worlds() -> tuple[World, ...]:
    effects: tuple[tuple[str, Draw, Draw, bool], ...] = (
        ("symmetric", normal(0.05), normal(0.2), False),
        ("heavy-tailed", heavy(0.06), heavy(0.2), False),
        ("skewed", exponential(0.06), exponential(0.1), True),
        ("lognormal", lognormal(0.06), normal(0.2), True),
        ("zero-inflated", inflated(0.3, 0.15), inflated(0.2, 0.4), False),
        ("rare-large", nothing, rare_loss(0.05, 0.02), True),
        ("rarer-large", nothing, rare_loss(0.02, 0.01), True),
        ("95 % ties", nothing, ternary(0.05), False),
    )
    shapes: tuple[tuple[str, tuple[int, ...], int], ...] = (
        *((f"{count} repositories × 12", (12,) * count, count) for count in (6, 10, 24, 40)),
        *((f"{count} repositories of 3-400", (), count) for count in (6, 10, 24, 40)),
        ("SWE-bench Lite's 18 repositories", SWE_BENCH_LITE, 18),
        ("6 repositories, one giant", (400, 5, 5, 5, 5, 5), 6),
        ("3 repositories of 60, 10 and 10", (60, 10, 10), 3),
    )
    several = [
        World(f"{shape}, {effect}", sizes, count, of_repository if count >= 6 else nothing, of_query, skewed)
        for shape, sizes, count in shapes
        for effect, of_repository, of_query, skewed in effects
    ]
    single = [
        World(f"1 repository × {size}, {effect}", (size,), 1, nothing, of_query, skewed)
        for size in (5, 30, 100, 300, 1000)
        for effect, _, of_query, skewed in effects
        if effect != "lognormal"
    ]
    return (*several, *single)


WORLDS = _worlds()

HARD = tuple(
    World(f"a fifth of {count} repositories gain", (40,) * count, count, rare_gain(0.2, 0.15), normal(0.1), skewed=True)
    for count in (6, 10, 24, 40)
)
"""Few repositories gain much and the others lose a little: no procedure that decides with few repositories can detect
it."""
