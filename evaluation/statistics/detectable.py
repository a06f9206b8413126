"""The smallest true difference that a design shows with 80 % power."""

from __future__ import annotations

import numpy as np

from evaluation.statistics.evidence import Evidence, Span
from evaluation.statistics.samples import Level
from evaluation.statistics.types import POWER


def detectable(evidence: Evidence, counts: np.ndarray, *, level: Level, span: Span) -> np.ndarray:
    """Return it for every comparison at a one-sided level; infinite where no difference can be shown, NaN without any.

    A true difference is shown when its estimate is farther from 0 than the interval reaches. Four estimates in
    five do so if the true difference lies further out by the quantile of the power.
    """
    from scipy import special  # scipy.stats takes a second to import

    reach = np.maximum(evidence.estimates - evidence.lower(level), evidence.upper(level) - evidence.estimates)
    beyond = special.stdtrit(np.maximum(counts - 1, 1), POWER)
    found = reach + beyond * evidence.errors
    possible = np.isfinite(found) & (~np.array(span.known) | (found <= span.most))
    # Units that never differ have no error from which it could be known.
    return np.where(evidence.errors > 0, np.where(possible, found, np.inf), np.nan)


def middle(smallest: np.ndarray) -> float:
    """Return the median of those that are known; NaN if most of them are infinite, or none is known."""
    known = np.sort(smallest[~np.isnan(smallest)])
    inner = known[(len(known) - 1) // 2 : len(known) // 2 + 1]
    inner = inner[np.isfinite(inner)]
    return float(inner.mean()) if len(inner) else float("nan")
