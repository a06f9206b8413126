"""Bounds for the mean of bounded values, without assuming symmetry or a normal mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.statistics.samples import Level, Samples

WorstWeight = Literal["largest", "typical"]

_STEPS = 60
_PRECISION = 1e-9
_NEAR = 1e-4
"""Below this saddlepoint ratio the tail formula is 0/0, and its limit is used."""
_CERTAIN = 40.0
"""The normal score of a probability that is 1."""


@dataclass(frozen=True, slots=True)
class BoundedMean:
    """Gaffke's (2005) bound: random weights over the sample plus one more value, the worst possible.

    For values of 0 and 1 it is Clopper and Pearson's exact interval, for many values the normal one. It cannot become
    certain because the sample happens to miss a rare large loss: the worst value is always among the values weighted.
    """

    samples: Samples
    least: float
    most: float
    worst: np.ndarray
    """Weight of the worst value, per comparison."""
    estimates: np.ndarray
    errors: np.ndarray

    def p_above(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at most 0"."""
        return _tail(self.samples.values, self.samples.weights, self.worst, self.least)

    def p_below(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at least 0"."""
        return _tail(-self.samples.values, self.samples.weights, self.worst, -self.most)

    def lower(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is below with at most this probability."""
        return _bound(self.samples.values, self.samples.weights, self.worst, self.least, level)

    def upper(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is above with at most this probability."""
        return -_bound(-self.samples.values, self.samples.weights, self.worst, -self.most, level)

    def lower_if_below(self, limit: np.ndarray, level: float) -> np.ndarray:
        """Return the lower bound if it is less than the limit, else infinity: one check is cheaper than a search."""
        return _bound_below(self.samples.values, self.samples.weights, self.worst, (self.least, limit), level)

    def upper_if_above(self, limit: np.ndarray, level: float) -> np.ndarray:
        """Return the upper bound if it is more than the limit, else minus infinity."""
        return -_bound_below(-self.samples.values, self.samples.weights, self.worst, (-self.most, -limit), level)


def bounded_mean(samples: Samples, *, least: float, most: float, worst: WorstWeight = "largest") -> BoundedMean:
    """Prepare the bounds for values that lie between ``least`` and ``most``.

    The worst value weighs as much as the heaviest unit, which is safe for any weights, or as much as a typical one
    (Kish's effective size), where the bounds only guard another procedure.
    """
    estimates, counts = samples.estimates, samples.counts
    parts = samples.weights * (samples.values - np.nan_to_num(estimates)[:, None])
    errors = np.sqrt(np.square(parts).sum(axis=1) * counts / np.maximum(counts - 1, 1))
    heaviest = samples.weights.max(axis=1, initial=0.0)
    share = heaviest if worst == "largest" else np.square(samples.weights).sum(axis=1)
    return BoundedMean(samples, least, most, share, estimates, errors)


def _bound(values: np.ndarray, weights: np.ndarray, worst: np.ndarray, least: float, level: Level) -> np.ndarray:
    """Find the value that the randomly weighted mean is below with this probability, by secants inside a bracket."""
    from scipy import special  # scipy.stats takes a second to import

    goal = special.ndtri(level)
    mean = (np.einsum("ij,ij->i", weights, values) + worst * least) / (1 + worst)
    spread = np.square(weights * (values - mean[:, None])).sum(axis=1) + np.square(worst * (least - mean))
    low = np.full(len(values), least)
    high = np.where(weights > 0, values, least).max(axis=1, initial=least)
    width = high - low
    before, place = mean, np.clip(mean + goal * np.sqrt(spread) / (1 + worst), low, high)
    found_before, points = _score(values, weights, worst, (least, before), np.zeros(len(values)))
    for _ in range(_STEPS):
        found, points = _score(values, weights, worst, (least, place), points)
        low, high = np.where(found < goal, place, low), np.where(found < goal, high, place)
        done = (np.abs(found - goal) < _PRECISION) | (high - low <= _PRECISION * width)
        if done.all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            secant = place + (goal - found) * (place - before) / (found - found_before)
        inside = (secant > low) & (secant < high)
        before, found_before = place, found
        place = np.where(done, place, np.where(inside, secant, (low + high) / 2))
    return np.where(worst > 0, place, least)


def _bound_below(
    values: np.ndarray, weights: np.ndarray, worst: np.ndarray, ends: tuple[float, np.ndarray], level: float
) -> np.ndarray:
    from scipy import special  # scipy.stats takes a second to import

    least, limit = ends
    found = np.full(len(values), np.inf)
    rows = np.flatnonzero(limit > least)
    scores, _ = _score(values[rows], weights[rows], worst[rows], (least, limit[rows]), np.zeros(len(rows)))
    rows = rows[scores > special.ndtri(level)]
    if len(rows):
        found[rows] = _bound(values[rows], weights[rows], worst[rows], least, level)
    return found


def _tail(values: np.ndarray, weights: np.ndarray, worst: np.ndarray, least: float) -> np.ndarray:
    from scipy import special  # scipy.stats takes a second to import

    nothing = np.zeros(len(values))
    scores, _ = _score(values, weights, worst, (least, nothing), nothing)
    return np.asarray(special.ndtr(scores))


def _score(
    values: np.ndarray, weights: np.ndarray, worst: np.ndarray, ends: tuple[float, np.ndarray], start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability, as a normal score, that Σ weight·E·(value - at) ≤ 0 for exponential E.

    ``ends`` are the least possible value, which is part of the sum, and ``at``. The saddlepoint is also returned: the
    next search may start there. Lugannani & Rice's formula is within 3 % of the exact probability for two or more
    values.
    """
    least, at = ends
    parts = np.concatenate([weights * (values - at[:, None]), (worst * (least - at))[:, None]], axis=1)
    lowest, highest = parts.min(axis=1), parts.max(axis=1)
    mixed = (lowest < 0) & (highest > 0)
    if mixed.all():
        return _saddlepoint(parts, lowest, highest, start)
    scores, points = np.where(highest <= 0, _CERTAIN, -_CERTAIN), np.zeros(len(values))
    if mixed.any():
        scores[mixed], points[mixed] = _saddlepoint(parts[mixed], lowest[mixed], highest[mixed], start[mixed])
    return scores, points


def _saddlepoint(
    parts: np.ndarray, lowest: np.ndarray, highest: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    # The sum has poles at both ends.
    left, right = (1 - _PRECISION) / lowest, (1 - _PRECISION) / highest
    width = right - left
    point = np.where((start > left) & (start < right), start, 0.0)
    for _ in range(_STEPS):
        scaled = parts / (1 - point[:, None] * parts)
        slope, curvature = scaled.sum(axis=1), np.einsum("ij,ij->i", scaled, scaled)
        left, right = np.where(slope > 0, left, point), np.where(slope > 0, point, right)
        new = point - slope / curvature
        new = np.where((new >= left) & (new <= right), new, (left + right) / 2)
        moved = np.abs(new - point)
        point = new
        if (moved <= _PRECISION**1.3 * width).all():
            break
    ratio = 1 - point[:, None] * parts
    curvature = np.square(parts / ratio).sum(axis=1)
    signed = np.sign(point) * np.sqrt(np.maximum(2 * np.log(ratio).sum(axis=1), 0.0))
    near = np.abs(signed) < _NEAR
    safe = np.where(near, 1.0, signed)
    bent = signed + np.log(np.where(near, 1.0, point * np.sqrt(curvature) / safe)) / safe
    limit = (parts**3).sum(axis=1) / (3 * np.square(parts).sum(axis=1) ** 1.5)
    return np.where(near, limit, bent), point
