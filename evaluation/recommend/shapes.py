"""The covariance structure of candidates: a level, the family, near sizes; and a component of each one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """What is known of a candidate before it is measured."""

    family: str
    size: float
    around: float
    """Size of the chunks around the round's passages."""


class Parts(NamedTuple):
    """Standard deviations of the components of a value."""

    level: float
    family: float
    size: float
    own: float


def covariance(shapes: Sequence[Shape], parts: Parts) -> np.ndarray:
    """Return the covariance of the candidates' values."""
    return np.asarray(np.tensordot(np.square(parts), kernels(shapes), axes=1))


def kernels(shapes: Sequence[Shape]) -> np.ndarray:
    """Return [parts × candidates × candidates]: the covariance if one part alone has a standard deviation of 1."""
    logs = np.log([max(shape.size, 1.0) for shape in shapes])
    near = np.exp(-np.square(logs[:, None] - logs[None, :]) / 2)
    _, family = np.unique([shape.family for shape in shapes], return_inverse=True)
    # The correlation within a family falls with the distance of the sizes.
    same = (family[:, None] == family[None, :]) * near
    return np.stack([np.ones_like(near), same, near, np.eye(len(shapes))])
