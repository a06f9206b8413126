"""Groups equal values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class EqualValues(NamedTuple):
    """The indices of values, grouped where the values are equal."""

    places: np.ndarray
    """Indices of all values, group after group."""
    begins: np.ndarray
    """Where each group begins in `places`."""
    counts: np.ndarray
    """Number of values in each group."""


def group_equal(values: np.ndarray, *, stable: bool = False) -> EqualValues:
    """Return the groups in the order of their values; if ``stable``, the indices within a group ascend."""
    places = np.argsort(values, kind="stable" if stable else None)
    ordered = values[places]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)])
    return EqualValues(places, begins, np.diff(begins, append=len(ordered)))
