"""Windows of whole lines, the shape of both `fixed-lines` and `sliding-window`."""

from __future__ import annotations

import numpy as np

from chunkers.sizes import ruler
from chunkers.types import Piece


def line_windows(data: bytes, *, window: int, step: int, offset: int = 0) -> list[Piece]:
    """Return pieces of ``window`` lines that begin every ``step`` lines, up to the first that reaches the end.

    With an offset, the first piece ends after that many lines, and the others begin from there.
    """
    starts = ruler(data, "lines").starts
    if not len(starts):
        return []
    bounds = np.append(starts, len(data))
    if offset >= len(starts):
        return [Piece(0, len(data))]
    # The first piece is the visible part of a window that began before the file.
    begin = offset - step if offset else 0
    first = np.arange(begin, max(begin + 1, len(starts) - window + step), step)
    last = np.minimum(first + window, len(starts))
    return list(map(Piece, bounds[np.maximum(first, 0)].tolist(), bounds[last].tolist()))
