"""Equality of two queries, or of two lines of code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import numpy as np

TEXT_HASH = np.dtype("<u8")
_PUNCTUATION = re.compile(r"[\W_]+")
_FILLERS = frozenset("a an the of to is are be and or in for that this".split())


def normalised(question: str) -> str:
    """Return the words of a question in lower case, without punctuation, articles and other fillers."""
    words = _PUNCTUATION.sub(" ", question.casefold()).split()
    return " ".join(word for word in words if word not in _FILLERS)


def distinct_lines(lines: Iterable[bytes]) -> frozenset[str]:
    """Return the distinct meaningful lines, without indentation."""
    texts = (" ".join(line.decode("utf-8", "replace").split()) for line in lines)
    return frozenset(text for text in texts if text.strip("{}()[];, "))


def text_hashes(texts: Iterable[str]) -> np.ndarray:
    """Return a hash of each text: texts are equal if their hashes are."""
    size = TEXT_HASH.itemsize
    hashes = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest() for text in texts)
    return np.frombuffer(b"".join(hashes), TEXT_HASH)
