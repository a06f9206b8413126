"""What every embedder does to a text before the model, and to a vector after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from chunkers.errors import UsageError
from indexing.types import Vectors
from indexing.vector_checks import LARGEST_VALUE

Long = Literal["truncate", "mean", "max"]
"""What to do with a text longer than the model's window: use its head alone, or pool its windows."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    """Return the text with lone surrogates (bytes that are not UTF-8) replaced by the replacement character."""
    return _SURROGATE.sub("\ufffd", text)


def unit_rows(vectors: np.ndarray) -> Vectors:
    """Return float32 rows of length 1, each normalised individually; a zero row stays zero."""
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.size and not np.abs(rows).max() <= LARGEST_VALUE:
        # The square of such a value may overflow, and the row would become zero.
        raise UsageError("the model gave a vector with a number that is not finite, or too large to be one")
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.ascontiguousarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def pool_windows(vectors: Vectors, owners: Sequence[int], weights: Sequence[int], *, how: Long) -> Vectors:
    """Return one unit row per text from the rows of its windows; ``owners`` gives the text of each window, in order.

    ``mean`` weighs each window by its tokens, so that a short last window counts only for its content.
    """
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    if len(starts) == len(vectors):
        return vectors
    if how == "max":
        pooled = unit_rows(np.maximum.reduceat(vectors, starts, axis=0))
    else:
        weighted = vectors.astype(np.float64) * np.asarray(weights, dtype=np.float64)[:, None]
        pooled = unit_rows(np.add.reduceat(weighted, starts, axis=0))
    # A text of one window keeps its exact vector without pooling.
    single = np.diff(starts, append=len(vectors)) == 1
    pooled[single] = vectors[starts[single]]
    return pooled
