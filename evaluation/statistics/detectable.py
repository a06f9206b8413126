"""The smallest true difference that a design shows with 80 % power."""

from __future__ import annotations

import numpy as np

from evaluation.statistics.evidence import Evidence, Span
from evaluation.statistics.samples import Level
from evaluation.statistics.types import POWER


def detectable(evidence: Evidence, counts: np.ndarray, *, level: Level, span: Span) -> np.ndarray:
    """Return it for every comparison at a one-sided level; NaN where units never differ or no difference can be shown.

    A true difference is shown when its estimate is farther from 0 than the interval reaches. Four estimates in
    five do so if the true difference lies further out by the quantile of the power.
    """
    from scipy import special  # scipy.stats takes a second to import

    reach = np.maximum(evidence.estimates - evidence.lower(level), evidence.upper(level) - evidence.estimates)
    beyond = special.stdtrit(np.maximum(counts - 1, 1), POWER)
    found = reach + beyond * evidence.errors
    possible = (evidence.errors > 0) & np.isfinite(found) & (~np.array(span.known) | (found <= span.most))
    return np.where(possible, found, np.nan)
