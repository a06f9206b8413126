"""Many one-sided comparisons with one control: the family-wise p of the smallest."""

from __future__ import annotations

import numpy as np

_NODES = np.linspace(-9, 9, 181)
"""Values of the normal variable shared by the comparisons."""
_MOST_ALIKE = 0.9
"""Larger correlations count as this: the sum over nodes is too coarse for more, and there is little left to gain."""
_STEPS = 40
_BEHIND = 1.5
"""Standard errors behind the control beyond which another alternative cannot be the one that beats it."""


def family_p(smallest: np.ndarray, count: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Return, per control, how often the smallest of ``count`` one-sided p would be this small by chance.

    Dunnett's (1955) problem: all comparisons share the control, so they are correlated, and need less correction than
    separate ones. The p-values are treated as those of equally correlated normal variables.
    """
    from scipy import special  # scipy.stats takes a second to import

    shared = np.clip(correlation, 0.0, _MOST_ALIKE)[:, None]
    chances = np.exp(-np.square(_NODES) / 2)
    reach = (-special.ndtri(np.clip(smallest, 1e-300, 1.0))[:, None] - np.sqrt(shared) * _NODES) / np.sqrt(1 - shared)
    found = -np.expm1(count[:, None] * special.log_ndtr(reach)) @ (chances / chances.sum())
    return np.asarray(np.clip(found, smallest, np.minimum(1.0, count * smallest)))


def family_level(level: float, count: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Return the level of one comparison at which the family has the given level: the inverse of `family_p`."""
    low, high = level / count, np.full(len(count), level)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        inside = family_p(middle, count, correlation) <= level
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


def in_question(ratios: np.ndarray, freedom: np.ndarray) -> float:
    """Return how many of the others count in a control's family, by their t ratios over the control.

    One that is far behind the control cannot be what beats it (Hansen 2005). Among equally good ones, a known share
    falls that far behind by chance; the number is raised by that share, so that nothing is gained where all are equal.
    """
    from scipy import special  # scipy.stats takes a second to import

    kept = ratios > -_BEHIND
    by_chance = special.stdtr(np.maximum(freedom[kept], 1), -_BEHIND)
    return float(np.clip((1 / (1 - by_chance)).sum(), 1, len(ratios)))


def shared_correlation(parts: np.ndarray) -> float:
    """Return the mean correlation of [comparisons × units] that share a control, slightly reduced for few units.

    parts: weighted deviations from the mean of each comparison. Tails of t over few units are less correlated than the
    units; the reduction makes the level right for 6 to 40 units, by simulation.
    """
    count, units = parts.shape
    norms = np.sqrt(np.square(parts).sum(axis=1, keepdims=True))
    if count < 2 or not norms.any():
        return 0.0
    scaled = np.divide(parts, norms, out=np.zeros_like(parts), where=norms > 0)
    pairs = (np.square(scaled.sum(axis=0)).sum() - np.square(scaled).sum()) / (count * (count - 1))
    return float(max(0.0, pairs * (1 - 2 / units)))
