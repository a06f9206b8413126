"""Which languages have documented definitions that can be mined and masked, and how they are found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence

from chunkers.types import SourceFile
from ground_truth.miners.doc_comments import STYLES, commented_definitions
from ground_truth.miners.elixir_docs import elixir_definitions
from ground_truth.miners.haskell_docs import haskell_definitions
from ground_truth.miners.julia_docs import julia_definitions
from ground_truth.miners.python_docstrings import python_definitions
from ground_truth.miners.types import Definition
from ground_truth.types import HiddenSpan

_FINDERS: dict[str, Callable[[bytes], list[Definition]]] = {
    "python": python_definitions,
    "elixir": elixir_definitions,
    "haskell": haskell_definitions,
    "julia": julia_definitions,
    **{language: functools.partial(commented_definitions, language=language) for language in STYLES},
}


@functools.lru_cache(maxsize=512)
def definitions(source: SourceFile) -> Sequence[Definition]:
    """Return the documented definitions of a file; none if the language has no finder."""
    finder = _FINDERS.get(source.language or "")
    # Cached, since mined documentation is masked next.
    return tuple(finder(source.data)) if finder else ()


def hidden_docstrings(source: SourceFile) -> tuple[HiddenSpan, ...]:
    """Return the documentation of every definition of a file, including delimiters, sorted and without overlaps."""
    spans = sorted({span for definition in definitions(source) for span in definition.comment_spans})
    return tuple(HiddenSpan(source.repo, source.path, start, end) for start, end in _joined(spans))


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    end = 0
    for start, stop in spans:
        if stop > end:
            yield max(start, end), stop
            end = stop


def minable_languages() -> frozenset[str]:
    """Return the languages whose documentation can be mined."""
    return frozenset(_FINDERS)
