"""Randomised Tukey HSD (Carterette 2012): the range of the means when chunkers swap names inside each unit."""

from __future__ import annotations

import numpy as np

_BLOCK_CELLS = 4_000_000
_TIE = 1e-9


def tukey_hsd(columns: np.ndarray, differences: np.ndarray, *, shuffles: int, seed: int) -> np.ndarray:
    """Family-wise p of each difference of sums, from ``shuffles`` random renamings of [columns × units]."""
    rng = np.random.default_rng(seed)
    count, units = columns.shape
    bars = np.abs(differences) - _TIE * np.abs(columns).sum()
    exceeded = np.zeros(len(differences), dtype=np.int64)
    block = max(1, _BLOCK_CELLS // (count * units))
    for start in range(0, shuffles, block):
        width = min(block, shuffles - start)
        # An array of its own: permuted writes into it.
        tiled = np.repeat(columns.T[None], width, axis=0)
        sums = rng.permuted(tiled, axis=2, out=tiled).sum(axis=1)
        ranges = np.sort(sums.max(axis=1) - sums.min(axis=1))
        exceeded += width - np.searchsorted(ranges, bars, side="left")
    return (exceeded + 1) / (shuffles + 1)
