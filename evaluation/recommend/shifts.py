"""What a round's passages hide: how a mean changes from them to all text, learned from those measured on both.

A shift is a level that all share, an effect of the family, one of the size that near sizes share, and something of its
own. Each is taken for normal, as large as it was on a few repositories; what is known then tells what to expect of the
others and how far off that may be (best linear prediction).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

_LEVEL, _FAMILY, _SIZE, _OWN = 0.3, 0.04, 0.06, 0.015
"""Standard deviations of the parts."""


class Shape(NamedTuple):
    """What is known of a candidate before it is measured."""

    family: str
    size: float


class Shift(NamedTuple):
    """The shift to expect, and its standard deviation."""

    mean: float
    error: float


def expected_shifts(
    known: Mapping[str, float], noise: float, shapes: Mapping[str, Shape], *, width: float
) -> dict[str, Shift]:
    """Return the shift of every candidate.

    ``known`` are those measured on both, ``noise`` the variance of one of them, ``width`` the range of a mean.
    """
    names = list(shapes)
    prior = np.square(width) * _covariance([shapes[name] for name in names])
    if not known:
        return {name: Shift(0.0, float(np.sqrt(prior[k, k]))) for k, name in enumerate(names)}
    rows = [names.index(name) for name in known]
    seen = prior[np.ix_(rows, rows)] + noise * np.eye(len(rows))
    weights = np.linalg.solve(seen, prior[rows]).T
    means = weights @ np.array(list(known.values()))
    errors = np.sqrt(np.maximum(np.diagonal(prior) - np.einsum("ij,ji->i", weights, prior[rows]), 0.0))
    return {name: Shift(float(means[k]), float(errors[k])) for k, name in enumerate(names)}


def _covariance(shapes: Sequence[Shape]) -> np.ndarray:
    logs = np.log([max(shape.size, 1.0) for shape in shapes])
    near = np.exp(-np.square(logs[:, None] - logs[None, :]) / 2)
    same = np.array([[a.family == b.family for b in shapes] for a in shapes], dtype=float)
    own = np.eye(len(shapes))
    return np.asarray(_LEVEL**2 + _FAMILY**2 * same + _SIZE**2 * near + _OWN**2 * own)
