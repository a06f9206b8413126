"""What to believe of the candidates' true means, given estimates of them: many draws of all means together.

A mean is a level that all share, an effect of the family, one of the size that near sizes share, and something of its
own; besides, one candidate may be unlike all others. How large these parts are is not known beforehand: several sizes
of each are weighed by how well they explain the estimates (a normal hierarchical model). So a lead that chance explains
is believed to be small, and a choice among many does not flatter the one that is chosen.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.shapes import Parts, Shape, covariance

_LEVEL = 0.3
_FAMILY, _SIZE, _OWN = (0.003, 0.02, 0.06), (0.01, 0.04, 0.16), (0.0015, 0.006, 0.012, 0.025, 0.05)
"""Standard deviations that the parts may have, as a share of the range of a mean."""
_UNLIKE = 0.08
"""Standard deviation of what sets one candidate apart from all others."""
_CHANCE_UNLIKE = 0.5
"""How likely it is, before anything is measured, that there is such a candidate."""
_DRAWS = 4000
_SEED = 0


class Estimates(NamedTuple):
    """Estimated means, higher being better, and the covariance of their errors."""

    values: np.ndarray
    errors: np.ndarray


class _Model(NamedTuple):
    """One size of each part, with what it makes of the estimates."""

    prior: np.ndarray
    inverse: np.ndarray
    """Of the estimates' covariance."""
    logs: np.ndarray
    """Log likelihoods: nobody is unlike the others, or the first is, the second, and so on."""


def believe(found: Estimates, shapes: Sequence[Shape], *, width: float) -> np.ndarray:
    """Return [candidates × draws] of the true means, about the mean of the estimates; ``width`` is a mean's range."""
    centre = found.values.mean()
    estimates = Estimates((found.values - centre) / width, found.errors / np.square(width))
    sizes = itertools.product(_FAMILY, _SIZE, _OWN)
    models = [_model(estimates, covariance(shapes, Parts(_LEVEL, *each))) for each in sizes]
    logs = np.concatenate([model.logs for model in models])
    chances = np.exp(logs - logs.max())
    rng = np.random.default_rng(_SEED)
    picked = np.sort(rng.choice(len(logs), size=_DRAWS, p=chances / chances.sum()))
    which, unlike = np.divmod(picked, len(shapes) + 1)
    parts = [_draws(models[k], estimates, unlike[which == k] - 1, rng) for k in np.unique(which)]
    return np.asarray(centre + width * np.concatenate(parts, axis=1))


def _model(found: Estimates, prior: np.ndarray) -> _Model:
    both = prior + found.errors
    inverse = np.linalg.inv(both)
    leads = inverse @ found.values
    alike = -(np.linalg.slogdet(both)[1] + found.values @ leads) / 2
    # One more variance on the diagonal changes determinant and inverse by a term of rank one.
    grown = 1 + _UNLIKE**2 * np.diagonal(inverse)
    unlike = alike + (_UNLIKE**2 * np.square(leads) / grown - np.log(grown)) / 2
    count = len(found.values)
    weights = np.log([1 - _CHANCE_UNLIKE, *[_CHANCE_UNLIKE / count] * count])
    return _Model(prior, inverse, weights + np.array([alike, *unlike]))


def _draws(model: _Model, found: Estimates, unlike: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return draws of the means given the estimates; ``unlike`` says which row is unlike the others in each, or -1.

    Means and errors are drawn without the estimates and then moved by what these say beyond (Matheron's rule).
    """
    count, draws = len(found.values), len(unlike)
    some = np.flatnonzero(unlike >= 0)
    rows = unlike[some]
    means = np.linalg.cholesky(model.prior) @ rng.standard_normal((count, draws))
    means[rows, some] += _UNLIKE * rng.standard_normal(len(some))
    errors = np.linalg.cholesky(found.errors) @ rng.standard_normal((count, draws))
    moves = model.inverse @ (found.values[:, None] - means - errors)
    grown = 1 + _UNLIKE**2 * np.diagonal(model.inverse)[rows]
    moves[:, some] -= _UNLIKE**2 * model.inverse[:, rows] * (moves[rows, some] / grown)
    means += model.prior @ moves
    means[rows, some] += _UNLIKE**2 * moves[rows, some]
    return np.asarray(means)
