"""The words of a query that are worth searching for."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_COMMON = frozenset(
    "the and for are was were that this with from what which when where who why how does did can could should would "
    "has have had not but its into out all any each only than then them they there here also use used using".split()
)
MOST_WORDS = 50


def query_words(text: str) -> list[str]:
    """Return the distinct words of three letters or more, in lower case and in order, without the most common ones."""
    found = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return [word for word in found if word not in _COMMON][:MOST_WORDS]
