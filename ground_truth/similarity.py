"""Token sets of code, and how much two of them share."""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def identifiers(text: str) -> frozenset[str]:
    """Return the identifiers and keywords of a text."""
    return frozenset(_IDENTIFIER.findall(text))


def jaccard(left: str, right: str) -> float:
    """Return the share of whitespace-separated tokens that two texts have in common; 0 where both are empty.

    This is the lexical similarity of RepoBench (Liu et al. 2024, arXiv 2306.03091).
    """
    ours, theirs = frozenset(left.split()), frozenset(right.split())
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 0.0
