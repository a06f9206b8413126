"""A uniformly random order of chunks, as independent arrival times between 0 and 1.

At time t each chunk has arrived with probability t, independently of the others. The units read by then are a sum of
independent terms with the generating function prod(1 - t + t z^size), and the integral over t is the exact distribution
of what is read before a chunk in a random order. The integrand is a polynomial in t whose degree is below the number of
chunks: Gauss-Legendre quadrature is exact for few chunks, and accurate to about 1e-12 for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

_NEGLIGIBLE = 1e-15
_NEVER = 1e-20
"""Probabilities of which even thousands together change no digit of a sum."""
_EARLY = 0.25
"""Up to this time, a few dozen terms of a power series in t/(1 - t) suffice."""
_ROUND = 8
"""Length of a transform as a multiple of the budget: what wraps around is negligible."""
_STABLE = 0.5
"""Up to this time a chunk can be divided out of the product without losing digits."""


class Arrivals:
    """What has been read at each of several times, over all chunks of a search space."""

    def __init__(self, sizes: np.ndarray, budget: int) -> None:
        self.budget = max(1, min(budget, int(sizes.sum()) + 1))
        """Units beyond which no distribution is kept."""
        self._sizes = np.sort(sizes)
        end = _end(sizes, self.budget)
        nodes, weights = np.polynomial.legendre.leggauss(min(len(sizes) // 2 + 1, _nodes(sizes, self.budget)))
        self.times: np.ndarray = (nodes + 1) / 2 * end
        self.weights: np.ndarray = weights / 2 * end
        self._before: dict[int, np.ndarray] = {}

    def without(self, sizes: Sequence[int]) -> np.ndarray:
        """Return, one row per time, the distribution of the units read if chunks of these sizes did not exist."""
        if self.times[-1] <= _STABLE:
            table = self._all.copy()
            for size in sorted(sizes):
                self._divide(table, size)
            return table
        rest = list(self._sizes)
        for size in sizes:
            rest.remove(size)
        return self._product(rest)

    def before(self, size: int) -> np.ndarray:
        """Return the distribution of the units read before a chunk of this size in a random order of all."""
        if size not in self._before:
            early = size > 0 and self.times[-1] <= _EARLY
            self._before[size] = self._divided_out(size) if early else self.weights @ self.without([size])
        return self._before[size]

    def _divided_out(self, size: int) -> np.ndarray:
        """Return the same by the series of 1/(1 - t + t z^size), whose terms vanish quickly at early times."""
        found: np.ndarray = self._terms[0].copy()
        for number, term in enumerate(self._terms[1 : (self.budget - 1) // size + 1], start=1):
            found[number * size :] += term[: self.budget - number * size]
        return found

    @cached_property
    def _terms(self) -> np.ndarray:
        """The coefficients of that series over all times: they are the same for every size."""
        odds = self.times / (1 - self.times)
        count = int(np.log(_NEVER) / np.log(odds[-1])) + 1
        factors = self.weights / (1 - self.times) * (-odds) ** np.arange(count)[:, None]
        terms: np.ndarray = factors @ self._all
        return terms

    @cached_property
    def _all(self) -> np.ndarray:
        sizes = self._sizes[self._sizes > 0]
        return self._transformed(sizes) if self.times[-1] <= _EARLY and len(sizes) else self._product(sizes)

    def _transformed(self, sizes: np.ndarray) -> np.ndarray:
        """Return the product by Fourier transforms: the sum of its factors' logarithms is a series of few powers.

        On a circle with a radius below 1, what wraps around the transform is negligible.
        """
        length = 1 << (_ROUND * self.budget - 1).bit_length()
        inward = np.log(_NEGLIGIBLE) / length
        values, counts = np.unique(sizes, return_counts=True)
        odds = self.times / (1 - self.times)
        number = np.arange(1, int(np.log(_NEVER) / np.log(odds[-1])) + 2)[:, None]
        places = (number * values % length).ravel()
        weights = np.exp(inward * number * values) * counts / -number
        outward = np.exp(-inward * np.arange(self.budget))
        table = np.empty((len(self.times), self.budget))
        for row, (time, odd) in enumerate(zip(self.times, odds, strict=True)):
            logs = np.fft.rfft(np.bincount(places, (weights * (-odd) ** number).ravel(), minlength=length))
            read = np.fft.irfft(np.exp(logs + len(sizes) * np.log1p(-time)), length)
            table[row] = read[: self.budget] * outward
        return table

    def _product(self, sizes: Iterable[int]) -> np.ndarray:
        table = np.zeros((len(self.times), self.budget))
        table[:, 0] = 1.0
        reach = 1
        # In ascending order, the table beyond `reach` stays empty for long.
        for size, count in zip(*(part.tolist() for part in np.unique(list(sizes), return_counts=True)), strict=True):
            if size == 0:
                continue
            shown = _most(count, float(self.times[-1]), min(count, (self.budget - 1) // size))
            last, reach = reach, min(self.budget, reach + shown * size)
            chances = _binomial(self.times, count, shown)
            before = table[:, :last].copy()
            table[:, :last] *= chances[0][:, None]
            for number in range(1, shown + 1):
                start = number * size
                part = before[:, : min(last, reach - start)]
                table[:, start : start + part.shape[1]] += chances[number][:, None] * part
        return table

    def _divide(self, table: np.ndarray, size: int) -> None:
        arrived = self.times[:, None]
        if size == 0:
            return
        for start in range(0, self.budget, size):
            part = table[:, start : start + size]
            if start:
                part -= arrived * table[:, start - size : start - size + part.shape[1]]
            part /= 1 - arrived


def _most(count: int, time: float, limit: int) -> int:
    """Return how many of ``count`` chunks may have arrived by a time, up to a limit; more is negligible (Chernoff)."""
    expected = count * time
    number = np.arange(1, limit + 1)
    never = (number > expected) & (number * np.log(expected / number) + number - expected < np.log(_NEVER))
    return int(never.argmax()) if never.any() else limit


def _binomial(times: np.ndarray, count: int, most: int) -> np.ndarray:
    """Return, one row per number up to ``most``, the probability that this many of ``count`` chunks have arrived."""
    number = np.arange(1, most + 1)
    steps = np.log((count - number + 1) / number)[:, None] + np.log(times / (1 - times))
    # By logarithms: the first row may underflow where a later one does not.
    logs = np.concatenate((np.zeros((1, len(times))), np.cumsum(steps, axis=0))) + count * np.log1p(-times)
    chances: np.ndarray = np.exp(logs)
    return chances


def _nodes(sizes: np.ndarray, budget: int) -> int:
    """Return enough times: the smaller the chunks, the less the reading by a time varies, so times must be closer."""
    typical = float(np.square(sizes, dtype=float).sum()) / max(1.0, float(sizes.sum()))
    return max(40, int(6 * np.sqrt(budget / max(1.0, typical))))


def _end(sizes: np.ndarray, budget: int) -> float:
    """Return a time by which the budget is certainly spent, by Chernoff's bound; 1 if there is none."""
    rate = np.geomspace(0.01, 100, 60)[:, None] / budget
    values, counts = np.unique(sizes, return_counts=True)
    kept = np.exp(-rate * values)
    for time in np.geomspace(1e-4, 0.98, 80):
        bound = rate[:, 0] * budget + np.log1p(time * (kept - 1)) @ counts
        if bound.min() < np.log(_NEGLIGIBLE):
            return float(time)
    return 1.0
