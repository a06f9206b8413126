"""Measures, statistics, experiments and reports."""
