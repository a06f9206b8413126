"""Which of many values are equal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class EqualValues(NamedTuple):
    """The places of values, brought together where the values are equal."""

    places: np.ndarray
    """Of all values, group after group."""
    begins: np.ndarray
    """Where each group begins among the places."""
    counts: np.ndarray
    """How many values each group has."""


def group_equal(values: np.ndarray, *, stable: bool = False) -> EqualValues:
    """Return the groups in the order of their values; the places of a group ascend where it is to be ``stable``."""
    places = np.argsort(values, kind="stable" if stable else None)
    ordered = values[places]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)])
    return EqualValues(places, begins, np.diff(begins, append=len(ordered)))
