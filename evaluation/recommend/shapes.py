"""What candidates have in common: a level, the family, near sizes; and what each has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """What is known of a candidate before it is measured."""

    family: str
    size: float


class Parts(NamedTuple):
    """Standard deviations of what a value is the sum of."""

    level: float
    family: float
    size: float
    own: float


def covariance(shapes: Sequence[Shape], parts: Parts) -> np.ndarray:
    """Return the covariance of the candidates' values."""
    logs = np.log([max(shape.size, 1.0) for shape in shapes])
    near = np.exp(-np.square(logs[:, None] - logs[None, :]) / 2)
    _, family = np.unique([shape.family for shape in shapes], return_inverse=True)
    same = family[:, None] == family[None, :]
    own = np.eye(len(shapes))
    return np.asarray(parts.level**2 + parts.family**2 * same + parts.size**2 * near + parts.own**2 * own)
