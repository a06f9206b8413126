"""The textbook paired tests over queries, for those who ask for them by name."""

from __future__ import annotations

import numpy as np


def paired_t(differences: np.ndarray) -> float:
    """Two-sided p of Student's paired t; 1 when nothing differs, 0 when all differ by the same amount."""
    from scipy import stats

    deviation = differences.std(ddof=1) if len(differences) > 1 else np.nan
    if not np.any(differences) or np.isnan(deviation):
        return 1.0
    if deviation == 0:
        return 0.0
    t = differences.mean() / (deviation / np.sqrt(len(differences)))
    return float(2 * stats.t.sf(abs(t), len(differences) - 1))


def wilcoxon(differences: np.ndarray) -> float:
    """Two-sided p of Wilcoxon's signed ranks, zero differences dropped; 1 when nothing differs."""
    from scipy import stats

    if not np.any(differences):
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="wilcox").pvalue)


def holm(p: np.ndarray) -> np.ndarray:
    """p-values corrected for their number, step-down (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return corrected
