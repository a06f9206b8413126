"""Comparisons of alternatives over per-query scores: intervals, tests and decisions that cannot disagree."""

from evaluation.statistics.best import best_set
from evaluation.statistics.compare import FLIPS, compare_pairs
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.types import (
    MARGIN,
    MIN_REPOSITORIES,
    SIGNIFICANT,
    BestSet,
    Comparison,
    Decision,
    Interval,
    Standing,
    TestName,
    Weight,
)

__all__ = [
    "FLIPS",
    "MARGIN",
    "MIN_REPOSITORIES",
    "SIGNIFICANT",
    "BestSet",
    "Comparison",
    "Decision",
    "Interval",
    "Standing",
    "TestName",
    "Weight",
    "best_set",
    "compare_pairs",
    "mean_interval",
]
