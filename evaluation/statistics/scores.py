"""Validates a matrix of scores, and determines the range of a difference of two scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from chunkers.errors import UsageError, reason_of
from evaluation.statistics.evidence import Settings, Span
from evaluation.statistics.types import TestName, Weight

_ROUNDING = 1e-9


def checked(scores: np.ndarray, clusters: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Return [names × queries] as numbers; raise if the matrix does not fit its labels."""
    try:
        found = np.asarray(scores, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise UsageError(f"scores are not rows of as many numbers each: {reason_of(error)}") from None
    if found.ndim != 2 or found.shape != (len(names), len(clusters)):
        raise UsageError(f"scores {found.shape} do not match {len(names)} names and {len(clusters)} queries")
    if len(set(names)) != len(names):
        raise UsageError(f"names are not unique: {', '.join(map(str, names))}")
    if np.isinf(found).any():
        raise UsageError("scores hold an infinite value; NaN is a score that is undefined")
    if not len(clusters):
        raise UsageError("there are no queries to compare on")
    return found


def checked_settings(weight: Weight, test: TestName, flips: int, seed: int, *, corrections: int = 1) -> Settings:
    """Return how evidence is weighed; a name that is not known would stand for another procedure."""
    for what, given, known in (("weight", weight, get_args(Weight)), ("test", test, get_args(TestName))):
        if given not in known:
            raise UsageError(f"{what} {given!r} is not known: give {' or '.join(map(repr, known))}")
    for what, count in (("flips", flips), ("corrections", corrections)):
        if count < 1:
            raise UsageError(f"{what} must be at least 1, not {count}")
    return Settings(weight, test, flips, seed)


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
        raise UsageError(f"a measure cannot range from {low} to {high}")
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
