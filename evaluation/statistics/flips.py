"""Paired sign-flip permutation for many pairs at once: one matrix product per block of flips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_BLOCK_CELLS = 4_000_000
"""Signs per block (32 MB): in smaller ones the threads of the product wait for each other most of the time."""
_TIE = 1e-9
"""Two sums count as equal within this share of their scale, so that rounding never breaks a tie."""


@dataclass(frozen=True, slots=True)
class FlipTest:
    """p-values of each pair, alone and corrected for the family."""

    p: np.ndarray
    p_maxt: np.ndarray
    flips: int
    exact: bool


def sign_flip_test(columns: np.ndarray, pairs: Sequence[tuple[int, int]], *, flips: int, seed: int) -> FlipTest:
    """Test for each pair (i, j) whether Σ ±(columns[i] - columns[j]) is as large as the unflipped sum.

    ``columns`` is [columns × units]. All pairs share each flip, so the correlation between comparisons that share a
    chunker reaches the max-T correction. Flipping leaves a pair's sum of squares as it is, so |sum| / √(sum of
    squares) orders flips exactly as the t statistic does, and max-T compares pairs on that scale.
    """
    units = columns.shape[1]
    differences = [columns[i] - columns[j] for i, j in pairs]
    observed = np.array([abs(d.sum()) for d in differences])
    norms = np.array([np.sqrt(np.square(d).sum()) for d in differences])
    slack = np.array([_TIE * np.abs(d).sum() for d in differences])
    # A pair that never differs is 0 on both scales: always a tie, so its p is 1.
    scale = np.where(norms > 0, norms, 1.0)
    bars = observed - slack
    alone = np.zeros(len(pairs), dtype=np.int64)
    family = np.zeros(len(pairs), dtype=np.int64)
    exact = units - 1 < 63 and 2 ** (units - 1) <= flips
    total = 2 ** (units - 1) if exact else flips
    totals = columns.sum(axis=1)[:, None]
    for bits in _all_signs(units) if exact else _random_signs(units, flips, seed):
        # Σ ±x = Σ x - 2 Σ over the flipped: 0/1 bits serve as the signs.
        flipped = totals - 2.0 * (columns @ bits)
        largest = np.zeros(bits.shape[1])
        for k, (i, j) in enumerate(pairs):
            size = np.abs(flipped[i] - flipped[j])
            alone[k] += np.count_nonzero(size >= bars[k])
            np.maximum(largest, size / scale[k], out=largest)
        largest.sort()
        family += len(largest) - np.searchsorted(largest, bars / scale, side="left")
    if exact:
        return FlipTest(alone / total, family / total, total, exact=True)
    return FlipTest((alone + 1) / (total + 1), (family + 1) / (total + 1), total, exact=False)


def _all_signs(units: int) -> Iterator[np.ndarray]:
    """Every sign vector whose first sign is +, as [units × block] of 0 and 1; the other half mirrors these."""
    total = 2 ** (units - 1)
    block = max(1, _BLOCK_CELLS // units)
    shifts = np.arange(units, dtype=np.int64)[:, None]
    for start in range(0, total, block):
        # Doubling keeps bit 0, the first unit's sign, at 0.
        numbers = 2 * np.arange(start, min(start + block, total), dtype=np.int64)
        yield ((numbers[None, :] >> shifts) & 1).astype(np.float64)


def _random_signs(units: int, flips: int, seed: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    block = max(8, _BLOCK_CELLS // units // 8 * 8)
    # One array for all blocks: fresh memory would cost more than the product.
    signs = np.empty((units, block))
    for start in range(0, flips, block):
        width = min(block, flips - start)
        packed = rng.integers(0, 256, size=(units, -(-width // 8)), dtype=np.uint8)
        np.copyto(signs[:, :width], np.unpackbits(packed, axis=1, count=width))
        yield signs[:, :width]
