"""The distribution of chunk sizes: a comparison of chunkers means little until their sizes are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_QUANTILES = {"min": 0.0, "p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "max": 1.0}


@dataclass(frozen=True, slots=True)
class Distribution:
    """Count, mean, quantiles and a small histogram of chunk sizes."""

    count: int
    mean: float
    quantiles: dict[str, int]
    """min, p5, p25, p50, p75, p95 and max, each the size of some chunk."""
    edges: tuple[int, ...]
    """The limits of the histogram's bins, one more than the number of bins."""
    bins: tuple[int, ...]


def distribution(sizes: Sequence[int], *, bins: int = 10) -> Distribution:
    """Return the distribution of sizes; without sizes, it has no quantiles."""
    if not sizes:
        return Distribution(0, 0.0, {}, (), ())
    values = np.sort(np.asarray(sizes, dtype=np.int64))
    quantiles = np.quantile(values, list(_QUANTILES.values()), method="inverted_cdf")
    edges = np.unique(np.linspace(0, values[-1] + 1, bins + 1).round().astype(np.int64))
    counted, _ = np.histogram(values, edges)
    return Distribution(
        len(values),
        float(values.mean()),
        dict(zip(_QUANTILES, quantiles.tolist(), strict=True)),
        tuple(edges.tolist()),
        tuple(counted.tolist()),
    )
