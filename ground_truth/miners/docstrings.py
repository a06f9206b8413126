"""Queries from documentation: the docstring asks, the definition answers, and the docstring is hidden."""

from __future__ import annotations

from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.lines import FileLines
from ground_truth.miners.comment_text import describes
from ground_truth.miners.corpus import harvest_files
from ground_truth.miners.definitions import definitions, hidden_docstrings
from ground_truth.miners.equal_texts import distinct_lines
from ground_truth.miners.finds import FileFinds, Found, nested_too_deeply
from ground_truth.miners.query_text import LONGEST_TEXT, is_aside, query_text, unfit
from ground_truth.miners.types import Definition, Mined

MIN_BODY_LINES = 3
MAX_LINES = 200
"""A longer definition is not a single place."""


def mine_docstrings(repository: Repository, *, limit: int | None = None, seed: int = 0) -> Mined:
    """Return at most ``limit`` queries of a repository, chosen by the seed alone, in file order.

    The documentation of every definition is hidden, not only of those that became queries: no chunk has an advantage,
    and what is hidden depends on neither the seed nor the limit.
    """
    return harvest_files(repository, {"docstrings": docstrings_of})["docstrings"].mined(limit=limit, seed=seed)


def docstrings_of(source: SourceFile) -> FileFinds:
    """Return the possible queries from a file's documentation."""
    hidden = [(span.start_byte, span.end_byte) for span in hidden_docstrings(source)]
    asked = [each for each in definitions(source) if each.is_function]
    problems = nested_too_deeply((each.start_line, each.end_line) for each in asked)
    lines = FileLines.of(source.data)
    found = [_found(source.data, lines, each, problem) for each, problem in zip(asked, problems, strict=True)]
    return FileFinds(hidden, found)


def _found(data: bytes, lines: FileLines, definition: Definition, problem: str) -> Found:
    query = query_text(definition.doc[:LONGEST_TEXT], definition.name)
    return Found(
        definition.name,
        query,
        definition.start_line,
        definition.end_line,
        frozenset() if problem else _body(data, lines, definition),
        problem or _reason(definition) or _text_reason(query, definition),
    )


def _body(data: bytes, file: FileLines, definition: Definition) -> frozenset[str]:
    """Return the distinct lines of a definition without its documentation and its name."""
    begin, end = file.to_bytes(definition.start_line, definition.end_line)
    kept = bytearray(data[begin:end])
    for span in reversed(definition.comment_spans):
        start, stop = (min(max(place - begin, 0), len(kept)) for place in span)
        kept[start:stop] = b"\n" * kept[start:stop].count(b"\n")
    lines = kept.split(b"\n")
    name = definition.name.encode("utf-8", "replace")
    signature = next((number for number, line in enumerate(lines) if name and name in line), 0)
    return distinct_lines(
        bytes(line).replace(name, b"_") if number == signature and name else bytes(line)
        for number, line in enumerate(lines)
    )


def _text_reason(query: str, definition: Definition) -> str:
    """Return why a text is no query, or nothing; a comment without a documentation mark must describe an action."""
    if reason := unfit(query, definition.name):
        return reason
    described = not is_aside(query) and (definition.is_marked or describes(query))
    return "" if described else "not a description"


def _reason(definition: Definition) -> str:
    """Return why a documented function yields no query whatever its documentation says, or nothing."""
    if definition.is_overload:
        return "overload or abstract"
    if definition.end_line - definition.start_line >= MAX_LINES:
        return "too many lines"
    return "trivial body" if definition.body_lines < MIN_BODY_LINES else ""
