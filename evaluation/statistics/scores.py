"""Validates a matrix of scores, and determines the range of a difference of two scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkers.errors import UsageError
from evaluation.statistics.evidence import Span

_ROUNDING = 1e-9


def checked(scores: np.ndarray, clusters: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Return [names × queries] as numbers; raise if the matrix does not fit its labels."""
    found = np.asarray(scores, dtype=np.float64)
    if found.ndim != 2 or found.shape != (len(names), len(clusters)):
        raise ValueError(f"scores {found.shape} do not match {len(names)} names and {len(clusters)} queries")
    if len(set(names)) != len(names):
        raise ValueError(f"names are not unique: {list(names)}")
    if np.isinf(found).any():
        raise ValueError("scores hold an infinite value")
    if not len(clusters):
        raise UsageError("there are no queries to compare on")
    return found


def score_span(scores: np.ndarray, value_range: tuple[float, float] | None) -> Span:
    """Return the range of the scores: the one given, 0 to 1 if all scores fit, else the observed range."""
    known = scores[~np.isnan(scores)]
    least, most = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if value_range is None:
        return (
            Span(0.0, 1.0, known=True)
            if least >= -_ROUNDING and most <= 1 + _ROUNDING
            else Span(least, most, known=False)
        )
    low, high = value_range
    if not low < high:
        raise ValueError(f"a measure cannot range from {low} to {high}")
    if len(known) and (least < low - _ROUNDING or most > high + _ROUNDING):
        raise UsageError(
            f"scores from {least:g} to {most:g} are outside the measure's range, {low:g} to {high:g}: "
            "declare the range that its values can have"
        )
    # A measure without an upper limit has no known range: the observed range takes its place.
    if np.isinf(low) or np.isinf(high):
        return Span(max(low, least), min(high, most), known=False)
    return Span(low, high, known=True)


def difference_span(span: Span) -> Span:
    """Return the range of a difference of two scores."""
    width = span.most - span.least
    return Span(-width, width, span.known)
