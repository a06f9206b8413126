"""Span runs: what any code search returned, as ranked places in files."""
