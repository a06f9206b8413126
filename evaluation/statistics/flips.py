"""The sign-flip test and its exact inversion, for many comparisons at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.samples import Level, Samples

_BLOCK_CELLS = 4_000_000
"""Signs per block (32 MB): in smaller blocks the threads of the product mostly wait for each other."""
_ROWS = 512
"""Comparisons whose flips are held in memory at once."""
_LARGEST_LEVEL = 0.05
_TIE = 1e-9
"""A mean within this share of the largest value of all counts as 0, so that rounding never breaks a tie."""


@dataclass(frozen=True, slots=True)
class SignFlips:
    """Flipping the signs of a subset makes the sum larger exactly where the subset's mean is below the true mean.

    So the p of "the true mean is at most μ" is the share of subsets whose mean is at most μ, including the empty one,
    and the bounds of the true mean are quantiles of subset means: one list gives p and interval.
    """

    estimates: np.ndarray
    errors: np.ndarray
    smallest: np.ndarray
    """[comparisons × some]: the smallest subset means, ascending; that of the empty subset is -inf."""
    largest: np.ndarray
    """The largest, descending; that of the empty subset is inf."""
    at_most_zero: np.ndarray
    """Number of subsets with a mean of at most 0."""
    at_least_zero: np.ndarray
    flips: int
    exact: bool

    def p_above(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at most 0"."""
        return self.at_most_zero / self.flips

    def p_below(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at least 0"."""
        return self.at_least_zero / self.flips

    def lower(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is below with at most this probability; -inf where there is none."""
        return np.asarray(self.smallest[np.arange(len(self.smallest)), self._rank(level)])

    def upper(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is above with at most this probability; inf where there is none."""
        return np.asarray(self.largest[np.arange(len(self.largest)), self._rank(level)])

    def _rank(self, level: Level) -> np.ndarray:
        if np.any(np.asarray(level) > _LARGEST_LEVEL):
            raise ValueError(f"subset means are kept for levels up to {_LARGEST_LEVEL}, not for {level}")
        return np.floor(np.asarray(level) * self.flips * (1 + _TIE)).astype(int)


def sign_flips(samples: Samples, *, flips: int, seed: int) -> SignFlips:
    """Flip the units of every sample: all subsets if ``flips`` allows, else ``flips`` random ones."""
    units = samples.values.shape[1]
    exact = units < 63 and 2**units <= flips
    total = 2**units if exact else flips + 1
    keep = min(total, int(_LARGEST_LEVEL * total) + 2)
    parts = [
        _subset_means(samples, slice(start, start + _ROWS), keep, _subsets(units, exact=exact, flips=flips, seed=seed))
        for start in range(0, len(samples.values), _ROWS)
    ]
    counts = samples.counts
    residuals = samples.weights * (samples.values - np.nan_to_num(samples.estimates)[:, None])
    errors = np.sqrt(np.square(residuals).sum(axis=1) * counts / np.maximum(counts - 1, 1))
    smallest, largest, below, above = (np.concatenate(each) for each in zip(*parts, strict=True))
    return SignFlips(samples.estimates, errors, smallest, largest, below, above, total, exact)


def _subset_means(
    samples: Samples, rows: slice, keep: int, subsets: Iterator[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the smallest and the largest subset means, and how many are at most and at least 0."""
    weights = samples.weights[rows]
    left, right = _factors(samples.values[rows] * weights)
    shared = bool((weights == weights[:1]).all())
    # Rows that are factored together share their rounding: also one of zeros, which has none of its own.
    slack = _TIE * np.abs(samples.values[rows]).max(initial=0.0)
    lowest, highest = _Smallest(keep), _Smallest(keep)
    below, above = np.zeros(len(weights), dtype=np.int64), np.zeros(len(weights), dtype=np.int64)
    for bits in subsets:
        shares = (weights[:1] if shared else weights) @ bits
        empty = shares <= _TIE
        means = left @ (right @ bits)
        means /= np.where(empty, 1.0, shares)
        below += np.count_nonzero(means <= slack, axis=1)
        above += np.count_nonzero(means >= -slack, axis=1)
        turned = -means
        if empty.any():
            means[np.broadcast_to(empty, means.shape)] = -np.inf
            turned[np.broadcast_to(empty, means.shape)] = -np.inf
        lowest.add(means)
        highest.add(turned)
    smallest, largest = lowest.ascending(), -highest.ascending()
    smallest[np.abs(smallest) <= slack] = 0.0
    largest[np.abs(largest) <= slack] = 0.0
    return smallest, largest, below, above


def _factors(parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factor into a product of two: all pairs of a few rows have the rank of the rows, which saves most of the work."""
    values, vectors = np.linalg.eigh(parts @ parts.T)
    basis = vectors[:, values > _TIE * values.max(initial=0.0)]
    right = basis.T @ parts
    exact = np.abs(parts - basis @ right).max(initial=0.0) <= _TIE**1.3 * np.abs(parts).max(initial=0.0)
    if exact and 2 * len(right) <= len(parts):
        return basis, right
    return np.eye(len(parts)), parts


class _Smallest:
    """Keeps the smallest values of each row of a stream of blocks."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.blocks: list[np.ndarray] = []
        self.width = 0

    def add(self, block: np.ndarray) -> None:
        """Add a block; from time to time, discard what cannot be among the smallest."""
        self.blocks.append(block)
        self.width += block.shape[1]
        if self.width > 4 * self.keep:
            self._forget()

    def ascending(self) -> np.ndarray:
        """Return the smallest values, sorted."""
        self._forget()
        return np.sort(self.blocks[0], axis=1)

    def _forget(self) -> None:
        values = np.concatenate(self.blocks, axis=1)
        if values.shape[1] > self.keep:
            values.partition(self.keep - 1, axis=1)
            values = values[:, : self.keep].copy()
        self.blocks, self.width = [values], values.shape[1]


def _subsets(units: int, *, exact: bool, flips: int, seed: int) -> Iterator[np.ndarray]:
    return _all_subsets(units) if exact else _random_subsets(units, flips, seed)


def _all_subsets(units: int) -> Iterator[np.ndarray]:
    """Every subset as [units × block] of 0 and 1, the empty one first."""
    total = 2**units
    block = max(1, _BLOCK_CELLS // units)
    shifts = np.arange(units, dtype=np.int64)[:, None]
    for start in range(0, total, block):
        numbers = np.arange(start, min(start + block, total), dtype=np.int64)
        yield ((numbers[None, :] >> shifts) & 1).astype(np.float64)


def _random_subsets(units: int, flips: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the empty subset, then random ones."""
    yield np.zeros((units, 1))
    rng = np.random.default_rng(seed)
    block = max(8, _BLOCK_CELLS // units // 8 * 8)
    # One array for all blocks: allocating memory would cost more than the product.
    bits = np.empty((units, block))
    for start in range(0, flips, block):
        width = min(block, flips - start)
        packed = rng.integers(0, 256, size=(units, -(-width // 8)), dtype=np.uint8)
        np.copyto(bits[:, :width], np.unpackbits(packed, axis=1, count=width))
        yield bits[:, :width]
