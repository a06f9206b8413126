"""How a mean changes from a round's passages to all text, estimated from the candidates measured on both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.shapes import Parts, Shape, covariance

_PARTS = Parts(level=0.02, family=0.03, size=0.01, own=0.014)
_SLOPE, _SLOPES = -0.05, 0.02
"""Chunks smaller than those around them find less among these than among their like: by this much for every factor of
e, and its uncertainty. These and the parts are as large as observed on thirteen repositories."""


class Shifts(NamedTuple):
    """The expected shifts, and the covariance of their errors."""

    means: np.ndarray
    errors: np.ndarray


def expected_shifts(
    known: np.ndarray, noise: np.ndarray, shapes: Sequence[Shape], *, rows: Sequence[int], width: float
) -> Shifts:
    """Return the shift of every candidate (best linear prediction).

    ``known`` are those of some rows, ``noise`` their variances, ``width`` the range of a mean.
    """
    larger = np.log([max(shape.size, 1.0) / max(shape.around, 1.0) for shape in shapes])
    means = width * _SLOPE * larger
    prior = np.square(width) * (covariance(shapes, _PARTS) + np.square(_SLOPES) * np.outer(larger, larger))
    if not len(known):
        return Shifts(means, prior)
    measured = list(rows)
    weights = np.linalg.solve(prior[np.ix_(measured, measured)] + np.diag(noise), prior[measured]).T
    errors = prior - weights @ prior[measured]
    errors = (errors + errors.T) / 2
    np.fill_diagonal(errors, np.maximum(np.diagonal(errors), 0.0))  # below 0 by rounding alone
    return Shifts(means + weights @ (known - means[measured]), errors)
