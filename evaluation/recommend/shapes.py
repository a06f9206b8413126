"""What candidates have in common: a level, the family, near sizes; and what each has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """What is known of a candidate before it is measured."""

    family: str
    size: float
    around: float
    """The size of the chunks around the round's passages."""


class Parts(NamedTuple):
    """Standard deviations of what a value is the sum of."""

    level: float
    family: float
    size: float
    own: float


def covariance(shapes: Sequence[Shape], parts: Parts) -> np.ndarray:
    """Return the covariance of the candidates' values."""
    return np.asarray(np.tensordot(np.square(parts), kernels(shapes), axes=1))


def kernels(shapes: Sequence[Shape]) -> np.ndarray:
    """Return [parts × candidates × candidates]: the covariance where one part alone has a standard deviation of 1."""
    logs = np.log([max(shape.size, 1.0) for shape in shapes])
    near = np.exp(-np.square(logs[:, None] - logs[None, :]) / 2)
    _, family = np.unique([shape.family for shape in shapes], return_inverse=True)
    # What a family has, it has less in common the further apart the sizes are.
    same = (family[:, None] == family[None, :]) * near
    return np.stack([np.ones_like(near), same, near, np.eye(len(shapes))])
