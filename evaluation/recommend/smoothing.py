"""Steadier estimates of many means: what families and sizes have in common tells of each candidate too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.recommend.bounds import Scored

_KEPT = 0.7
"""What is kept of a mean's difference from the fit in any case: one candidate may be unlike all others."""
_UNKNOWN = 1e6
"""The variance of a mean that says nothing."""
_SPARE = 4
"""Candidates beyond the number of parameters from which a fit says something."""


def steadied(
    scored: Scored, means: Mapping[str, float], *, families: Sequence[str], sizes: Sequence[float]
) -> dict[str, float]:
    """Return each mean drawn towards what its family and its size lead to expect.

    The expected mean is a level per family and one curve over sizes, fitted by least squares. How far a mean is drawn
    is decided by the data (empirical Bayes): most of the way where the candidates differ from the fit by no more than
    their noise, hardly where they differ by much more. Used to decide who is worth measuring further, never to report.
    """
    names = list(scored.names)
    found = np.array([means[name] for name in names])
    labels = sorted(set(families))
    spread = np.log(np.maximum(sizes, 1.0))
    centred = spread - spread.mean() if len(spread) else spread
    columns = [np.array([family == label for family in families], dtype=float) for label in labels]
    design = np.stack([*columns, centred, np.square(centred)], axis=1) if names else np.zeros((0, 0))
    parameters = int(np.linalg.matrix_rank(design)) if names else 0
    if len(names) < parameters + _SPARE or np.isnan(scored.values).any():
        return dict(means)
    solution, *_ = np.linalg.lstsq(design, found, rcond=None)
    fitted = design @ solution
    rest = found - fitted
    differing = float(np.square(rest).sum() / (len(names) - parameters))
    kept = max(_KEPT, 1.0 - noise_of(scored.values) / differing) if differing > 0 else 1.0
    return dict(zip(names, (fitted + kept * rest).tolist(), strict=True))


def noise_of(values: np.ndarray) -> float:
    """Return the variance of a candidate's mean about the others', from how its lead varies between queries."""
    candidates, queries = values.shape
    if queries < 2 or not candidates:
        return _UNKNOWN
    leads = values - values.mean(axis=0)
    return float(np.nan_to_num(leads).var(axis=1, ddof=1).mean() / queries)
