"""Recommends a chunker and size for a code base: a race of candidates, and the risk of taking its recommendation."""
