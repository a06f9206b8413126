"""Words of code: identifiers, whole and split, in lower case."""

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
    """Return the words of the text in order; ``getHTTPResponse_2`` yields itself, get, http, response and 2."""
    return [part for word in words_in(text) for part in word_parts(word)]


def words_in(text: str) -> list[str]:
    """Return the words of the text as written, in order."""
    return _WORD.findall(text)


def word_parts(word: str) -> list[str]:
    """Return a word in lower case, whole and split."""
    if word.isascii() and word.isalpha() and word.islower():
        return [word]  # the common case
    parts = [part.lower() for part in _PART.findall(word)]
    return [word.lower(), *parts] if len(parts) > 1 else parts
