"""Span runs: the results of any code search, as ranked places in files."""
