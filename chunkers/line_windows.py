"""Windows of whole lines, the shape of both `fixed-lines` and `sliding-window`."""

from __future__ import annotations

import numpy as np

from chunkers.sizes import ruler
from chunkers.types import Piece


def line_windows(data: bytes, *, window: int, step: int) -> list[Piece]:
    """Return pieces of ``window`` lines that begin every ``step`` lines, up to the first that reaches the end."""
    starts = ruler(data, "lines").starts
    if not len(starts):
        return []
    bounds = np.append(starts, len(data))
    first = np.arange(0, max(1, len(starts) - window + step), step)
    last = np.minimum(first + window, len(starts))
    return list(map(Piece, bounds[first].tolist(), bounds[last].tolist()))
