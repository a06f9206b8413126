"""Input and output types of the miners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ground_truth.types import Annotation, HiddenSpan, Query


class Definition(NamedTuple):
    """A function, method or class that has a docstring or doc comment."""

    name: str
    is_function: bool
    start_line: int
    """1-based, including decorators or attributes and excluding a doc comment above."""
    end_line: int
    doc: str
    """The documentation without its delimiters."""
    doc_spans: tuple[tuple[int, int], ...]
    """Half-open bytes of the documentation, without delimiters."""
    body_lines: int
    """Lines with text in the body, without the docstring."""
    is_overload: bool = False
    is_marked: bool = True
    """Whether the text is marked as documentation, not only placed above the definition."""
    comment_spans: tuple[tuple[int, int], ...] = ()
    """Half-open bytes of the documentation with its delimiters: what an index hides."""


class LanguageShare(NamedTuple):
    """One language's share of a repository, in code and in queries."""

    code_bytes: int
    """Without tests and generated files."""
    candidates: int
    """Possible questions."""
    queries: int


@dataclass(frozen=True)
class Mined:
    """Queries with their answers, and what was dropped, by reason."""

    queries: tuple[Query, ...]
    annotations: tuple[Annotation, ...]
    dropped: Mapping[str, int] = field(default_factory=Counter)
    commits: Mapping[str, str] = field(default_factory=dict)
    """Query id → the commit to search, where that matters."""
    hidden: tuple[HiddenSpan, ...] = ()
    """Text hidden from the index, sorted by repository, path and place, without overlaps: the text that the queries
    were made from, and other text of the same kind."""

    languages: Mapping[str, LanguageShare] = field(default_factory=dict)
    """The languages found, most code first; empty for commits."""

    def counts(self) -> dict[str, Any]:
        """Return the number kept, the number dropped for each reason, and each language's share of code and queries."""
        told: dict[str, Any] = {"kept": len(self.queries), "dropped": dict(sorted(self.dropped.items()))}
        if self.languages:
            code = sum(share.code_bytes for share in self.languages.values()) or 1
            told["languages"] = {
                language: {"code_share": round(share.code_bytes / code, 4), "queries": share.queries}
                for language, share in self.languages.items()
            }
        return told

    def summary(self) -> str:
        """Summarise in one line what was kept, what was dropped and why, and which languages were found."""
        reasons = sorted(self.dropped.items(), key=lambda item: (-item[1], item[0]))
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        told = f"{len(self.queries)} queries kept; dropped: {dropped or 'none'}"
        code = sum(share.code_bytes for share in self.languages.values())
        if not code:
            return told
        shares = ", ".join(
            f"{language} {share.code_bytes / code:.0%} of the code and {share.queries} queries"
            for language, share in self.languages.items()
            if share.queries or share.code_bytes >= _SEEN * code
        )
        return f"{told}; {shares}"


_SEEN = 0.01
"""A language with less of the code than this, and no query, is not mentioned."""
