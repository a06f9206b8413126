"""Words of code: identifiers whole and in their parts, lower case."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_PART = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])"  # HTTP in HTTPServer
    r"|[A-Z]?[a-z]+"  # get, Server
    r"|[A-Z]+|\d+"
    r"|[^\W\d_A-Za-z]+"  # letters of other scripts
)


def code_words(text: str) -> list[str]:
    """Return the words of the text in order; ``getHTTPResponse_2`` gives itself, get, http, response and 2."""
    words: list[str] = []
    for word in _WORD.findall(text):
        parts = _PART.findall(word)
        if len(parts) > 1:
            words.append(word.lower())
        words.extend(part.lower() for part in parts)
    return words
