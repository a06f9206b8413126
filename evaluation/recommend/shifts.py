"""What a round's passages hide: how a mean changes from them to all text, learned from those measured on both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.shapes import Parts, Shape, covariance

_PARTS = Parts(level=0.3, family=0.04, size=0.06, own=0.015)
"""Of a shift, as large as they were on a few repositories."""


class Shifts(NamedTuple):
    """The shifts to expect, and the covariance of how far off that may be."""

    means: np.ndarray
    errors: np.ndarray


def expected_shifts(
    known: np.ndarray, noise: np.ndarray, shapes: Sequence[Shape], *, rows: Sequence[int], width: float
) -> Shifts:
    """Return the shift of every candidate (best linear prediction).

    ``known`` are those of some rows, ``noise`` the variances of what is known, ``width`` the range of a mean.
    """
    prior = np.square(width) * covariance(shapes, _PARTS)
    if not len(known):
        return Shifts(np.zeros(len(shapes)), prior)
    measured = list(rows)
    weights = np.linalg.solve(prior[np.ix_(measured, measured)] + np.diag(noise), prior[measured]).T
    errors = prior - weights @ prior[measured]
    errors = (errors + errors.T) / 2
    np.fill_diagonal(errors, np.maximum(np.diagonal(errors), 0.0))  # below 0 by rounding alone
    return Shifts(weights @ known, errors)
