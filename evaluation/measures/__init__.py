"""Measures of a ranking: on ids, on gold text at a budget, on diversity, and against a reference ranking."""

from evaluation.measures.evaluate import Summary, aggregate, evaluate, uncovered
from evaluation.measures.measure import Measure
from evaluation.measures.registry import describe_measures, parse_measure

__all__ = [
    "Measure",
    "Summary",
    "aggregate",
    "describe_measures",
    "evaluate",
    "parse_measure",
    "uncovered",
]
