"""Which languages have documented definitions that can be mined and masked, and how they are found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from chunkers.types import SourceFile
from ground_truth.miners.doc_comments import STYLES, commented_definitions
from ground_truth.miners.python_docstrings import python_definitions
from ground_truth.miners.types import Definition

_FINDERS: dict[str, Callable[[bytes], list[Definition]]] = {
    "python": python_definitions,
    **{language: functools.partial(commented_definitions, language=language) for language in STYLES},
}


@functools.lru_cache(maxsize=512)
def definitions(source: SourceFile) -> Sequence[Definition]:
    """Return the documented definitions of a file; none where the language has no finder."""
    finder = _FINDERS.get(source.language or "")
    # Remembered, since what a dataset mines it masks next.
    return tuple(finder(source.data)) if finder else ()


def minable_languages() -> frozenset[str]:
    """Return the languages whose documentation can be mined."""
    return frozenset(_FINDERS)
