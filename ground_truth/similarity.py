"""Token sets of code, and their similarity."""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def identifiers(text: str) -> frozenset[str]:
    """Return the identifiers and keywords of a text."""
    return frozenset(_IDENTIFIER.findall(text))


def jaccard(left: str, right: str) -> float:
    """Return the Jaccard similarity of the whitespace-separated tokens of two texts; 0 if both are empty.

    This is the lexical similarity of RepoBench (Liu et al. 2024, arXiv 2306.03091).
    """
    ours, theirs = frozenset(left.split()), frozenset(right.split())
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 0.0
