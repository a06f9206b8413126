"""Posterior draws of the candidates' true means, given estimates of them, all means together.

A mean is the sum of a level that all share, an effect of the family, one of the size, similar for near sizes, and a
component of its own; in addition, one candidate may be unlike all others. The scale of these parts is not known
beforehand: several scales of each are weighted by how well they explain the estimates (a normal hierarchical model). So
a lead that chance explains is shrunk, and a choice among many does not flatter the chosen one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.shapes import Shape, kernels

_LEVEL = 0.3
_FAMILY, _SIZE, _OWN = (0.003, 0.02, 0.06), (0.01, 0.04, 0.16), (0.0015, 0.006, 0.012, 0.025, 0.05)
"""Possible standard deviations of the parts, as a share of the range of a mean."""
_UNLIKE = 0.08
"""Standard deviation of the deviation of one candidate from all others."""
_CHANCE_UNLIKE = 0.5
"""Prior probability of such a candidate."""
_SEED = 0


class Estimates(NamedTuple):
    """Estimated means, higher being better, and the covariance of their errors."""

    values: np.ndarray
    errors: np.ndarray


class _Models(NamedTuple):
    """Several scales of the parts, each with its fit to the estimates."""

    priors: np.ndarray
    inverses: np.ndarray
    """Inverses of the estimates' covariance."""
    logs: np.ndarray
    """Log likelihoods, one row per model: no candidate is unlike the others, or the first is, the second, and so on."""


def believe(found: Estimates, shapes: Sequence[Shape], *, width: float, draws: int) -> np.ndarray:
    """Return [candidates × draws] of the true means, around the mean of the estimates; ``width`` is a mean's range."""
    centre = found.values.mean()
    estimates = Estimates((found.values - centre) / width, found.errors / np.square(width))
    models = _weighed(estimates, shapes)
    logs = models.logs.reshape(-1)
    chances = np.exp(logs - logs.max())
    rng = np.random.default_rng(_SEED)
    picked = np.sort(rng.choice(len(logs), size=draws, p=chances / chances.sum()))
    which, unlike = np.divmod(picked, len(shapes) + 1)
    noise = np.linalg.cholesky(estimates.errors) @ rng.standard_normal((len(shapes), draws))
    exact = estimates.values[:, None] - noise
    parts = [_moved(models, k, exact[:, which == k], unlike[which == k] - 1, rng) for k in np.unique(which).tolist()]
    return np.asarray(centre + width * np.concatenate(parts, axis=1))


def _weighed(found: Estimates, shapes: Sequence[Shape]) -> _Models:
    sizes = np.array([(_LEVEL, *each) for each in itertools.product(_FAMILY, _SIZE, _OWN)])
    priors = np.tensordot(np.square(sizes), kernels(shapes), axes=1)
    both = priors + found.errors
    inverses = np.linalg.inv(both)
    leads = inverses @ found.values
    alike = -(np.linalg.slogdet(both)[1] + leads @ found.values) / 2
    # Adding one variance to the diagonal changes determinant and inverse by a rank-one term.
    grown = 1 + _UNLIKE**2 * np.diagonal(inverses, axis1=1, axis2=2)
    unlike = alike[:, None] + (_UNLIKE**2 * np.square(leads) / grown - np.log(grown)) / 2
    count = len(found.values)
    weights = np.log([1 - _CHANCE_UNLIKE, *[_CHANCE_UNLIKE / count] * count])
    return _Models(priors, inverses, weights + np.column_stack([alike, unlike]))


def _moved(models: _Models, which: int, found: np.ndarray, unlike: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return draws of the means given error-corrected estimates; ``unlike`` is the unlike candidate's index, or -1.

    Means are drawn without the estimates and then shifted by their deviation (Matheron's rule).
    """
    prior, inverse = models.priors[which], models.inverses[which]
    some = np.flatnonzero(unlike >= 0)
    rows = unlike[some]
    means = np.linalg.cholesky(prior) @ rng.standard_normal(found.shape)
    means[rows, some] += _UNLIKE * rng.standard_normal(len(some))
    moves = inverse @ (found - means)
    grown = 1 + _UNLIKE**2 * np.diagonal(inverse)[rows]
    moves[:, some] -= _UNLIKE**2 * inverse[:, rows] * (moves[rows, some] / grown)
    means += prior @ moves
    means[rows, some] += _UNLIKE**2 * moves[rows, some]
    return np.asarray(means)
