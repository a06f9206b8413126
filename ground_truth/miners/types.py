"""What the miners see in a file and what they make of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ground_truth.types import Annotation, HiddenSpan, Query


class Definition(NamedTuple):
    """A function, method or class that has a docstring or doc comment."""

    name: str
    is_function: bool
    start_line: int
    """1-based, with decorators or attributes and without a doc comment that stands above."""
    end_line: int
    doc: str
    """The documentation without its delimiters."""
    doc_spans: tuple[tuple[int, int], ...]
    """Half-open bytes of the documentation, without delimiters: what masking blanks."""
    body_lines: int
    """Lines with text in the body, the docstring left out."""
    is_overload: bool = False


@dataclass(frozen=True)
class Mined:
    """Queries with their answers, and what was dropped on the way, by reason."""

    queries: tuple[Query, ...]
    annotations: tuple[Annotation, ...]
    dropped: Mapping[str, int] = field(default_factory=Counter)
    commits: Mapping[str, str] = field(default_factory=dict)
    """Query id → the commit that is searched, where that matters."""
    hidden: tuple[HiddenSpan, ...] = ()
    """What an index must not show, sorted by repository, path and place, without overlaps: the text that the queries
    were made from, and its like."""

    def counts(self) -> dict[str, int | dict[str, int]]:
        """Return how many were kept, and how many dropped for each reason."""
        return {"kept": len(self.queries), "dropped": dict(sorted(self.dropped.items()))}
