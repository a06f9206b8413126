"""Requirements on a vector before it is stored or searched with."""

from __future__ import annotations

import numpy as np

LARGEST_VALUE = 1e30
"""No model returns larger values; the square is still finite, so a length is a number."""

_SMALLEST_VALUE = 1e-30
"""If no number of a row reaches it, its length may be lost to rounding."""
_TOLERANCE = 1e-3


def unusable(rows: np.ndarray, *, zeros: bool) -> str:
    """Return why rows do not have length 1, or nothing; ``zeros`` allows rows of texts without content.

    A text without words may have such a row (`hashing`); a service's model has none.
    """
    if rows.ndim != 2 or rows.dtype.kind != "f":
        return f"an array of {rows.ndim} dimensions of {rows.dtype}, not rows of numbers"
    if reason := unreadable(rows, zeros=zeros):
        return reason
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    wrong = np.flatnonzero((np.abs(lengths - 1) > _TOLERANCE) & (lengths != 0))
    return f"row {wrong[0]} has length {lengths[wrong[0]]:.3g}, not 1" if len(wrong) else ""


def unreadable(rows: np.ndarray, *, zeros: bool) -> str:
    """Return why rows of any length are not vectors, or nothing."""
    if not np.isfinite(rows).all():
        return f"row {int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])} holds a number that is not finite"
    # Half-precision numbers cannot be compared with the bounds.
    largest = np.abs(rows).max(axis=1, initial=0).astype(np.float64)
    if largest.size and largest.max() > LARGEST_VALUE:
        return f"row {int(np.argmax(largest))} holds {largest.max():.3g}"
    if not zeros and len(empty := np.flatnonzero(largest < _SMALLEST_VALUE)):
        return f"row {empty[0]} is all zeros" + (", or almost" if largest[empty[0]] else "")
    return ""
