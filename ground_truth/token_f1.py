"""Token F1 between an expected answer and a text: sets of lower-case words, as memorybench's recall fix defines it."""

from __future__ import annotations

import re

THRESHOLD = 0.3
_NOT_A_WORD = re.compile(r"[^\w\s]")


def tokens(text: str) -> frozenset[str]:
    """Return the distinct words: lower case, punctuation removed, split at whitespace."""
    return frozenset(_NOT_A_WORD.sub(" ", text.lower()).split())


def shared_f1(wanted: frozenset[str], found: frozenset[str]) -> float:
    """Return the harmonic mean of precision and recall of the distinct words; 0 if none is shared."""
    overlap = len(wanted & found)
    if not overlap:
        return 0.0
    precision, recall = overlap / len(found), overlap / len(wanted)
    return 2 * precision * recall / (precision + recall)
