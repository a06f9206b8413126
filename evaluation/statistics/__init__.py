"""Tests and intervals over per-query scores."""

from evaluation.statistics.compare import FLIPS, compare_pairs
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.letters import letter_display
from evaluation.statistics.matrix import ScoreMatrix, score_matrix
from evaluation.statistics.types import MIN_REPOSITORIES, SIGNIFICANT, Comparison, Interval

__all__ = [
    "FLIPS",
    "MIN_REPOSITORIES",
    "SIGNIFICANT",
    "Comparison",
    "Interval",
    "ScoreMatrix",
    "compare_pairs",
    "letter_display",
    "mean_interval",
    "score_matrix",
]
