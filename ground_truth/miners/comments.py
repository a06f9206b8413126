"""Queries from comments inside bodies: the comment asks, the statements it introduces answer, the comment is hidden."""

from __future__ import annotations

import functools
from typing import NamedTuple

from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.miners.comment_blocks import Commented, Lines, commented_blocks
from ground_truth.miners.comment_text import comment_query, no_description
from ground_truth.miners.corpus import harvest_files
from ground_truth.miners.equal_texts import distinct_lines
from ground_truth.miners.finds import FileFinds, Found, nested_too_deeply
from ground_truth.miners.query_text import LONGEST_TEXT
from ground_truth.miners.types import Mined
from ground_truth.types import HiddenSpan

MIN_LINES, MAX_LINES = 2, 30


class _Description(NamedTuple):
    found: Commented
    query: str
    reason: str
    """Why the text describes nothing, or empty."""


def mine_comments(repository: Repository, *, limit: int | None = None, seed: int = 0) -> Mined:
    """Return at most ``limit`` queries of a repository, chosen by the seed alone, in file order.

    All comments that describe the statements below them are hidden, not only those that became queries: no chunk has an
    advantage, and what is hidden depends on neither the seed nor the limit.
    """
    return harvest_files(repository, {"comments": comments_of})["comments"].mined(limit=limit, seed=seed)


def comments_of(source: SourceFile) -> FileFinds:
    """Return the possible queries from a file's comments."""
    hidden = [(span.start_byte, span.end_byte) for span in hidden_comments(source)]
    lines = source.data.split(b"\n")
    described = _descriptions(source)
    problems = nested_too_deeply(each.found.lines or (1, 0) for each in described)
    return FileFinds(hidden, [_found(lines, *each) for each in zip(described, problems, strict=True)])


def hidden_comments(source: SourceFile) -> tuple[HiddenSpan, ...]:
    """Return the comments of a file that describe the statements below them."""
    return tuple(
        _span(source, found) for found, _, problem in _descriptions(source) if not found.problem and not problem
    )


@functools.lru_cache(maxsize=512)
def _descriptions(source: SourceFile) -> tuple[_Description, ...]:
    """Return the comments of a file with what each introduces; cached, since mined comments are hidden next."""
    blocks = commented_blocks(source.data, source.language) if source.language else ()
    texts = ((found, found.comment.text[:LONGEST_TEXT]) for found in blocks)
    asked = ((found, text, comment_query(text)) for found, text in texts)
    return tuple(_Description(found, query, no_description(text, query)) for found, text, query in asked)


def _span(source: SourceFile, found: Commented) -> HiddenSpan:
    return HiddenSpan(source.repo, source.path, found.comment.start_byte, found.comment.end_byte)


def _found(lines: list[bytes], description: _Description, nested: str) -> Found:
    found, query, problem = description
    first, last = found.lines or (1, 0)
    if nested:
        return Found("", query, first, last, frozenset(), nested)
    reason = problem or found.problem or _size_reason(found.lines)
    return Found("", query, first, last, distinct_lines(lines[first - 1 : last]), reason)


def _size_reason(lines: Lines | None) -> str:
    height = lines.last - lines.first + 1 if lines else 0
    if height < MIN_LINES:
        return "introduces a single line"
    return "introduces too many lines" if height > MAX_LINES else ""
