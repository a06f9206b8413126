"""Annotation files: JSON Lines, one span per row, validated as a whole before use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.plain_text import one_line
from chunkers.plugins import nearest
from ground_truth.problems import RowProblemError, Skips
from ground_truth.types import Annotation, Query

MAX_PROBLEMS = 20
Mask = Literal["docstrings", "comments"]


class AnnotationRow(BaseModel):
    """One span that answers a query; lines are 1-based and inclusive."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="chunkbench annotation")

    query_id: str = Field(pattern=r"^\S+$", description="Rows with the same id are spans of one query; no spaces.")
    query: str = Field(pattern=r"\S", description="The text that is searched for; the same in all rows of a query.")
    repo: str = Field(default="", description="The repository's name; may be left out when there is only one.")
    file: str = Field(min_length=1, description="Posix path below the repository's root.")
    start_line: int = Field(ge=1, strict=True, description="First line, counted from 1.")
    end_line: int = Field(ge=1, strict=True, description="Last line, inclusive.")
    relevance: float = Field(default=1.0, ge=0, le=1000, strict=True, description="Grade; 0 means judged irrelevant.")
    alternative: str = Field(
        default="",
        description="Names the answer that this span is a part of: any one of a query's answers suffices.",
    )
    kind: str = Field(default="", description="How a mined query was made: docstrings, comments or commits.")
    category: str = Field(default="", description="The class of question, where there are classes.")
    commit: str | None = Field(default=None, pattern=r"^[0-9a-fA-F]{7,64}$", description="The commit it was read at.")
    language: str | None = Field(default=None, description="Language of the file; for the reader.")
    expected: str | None = Field(default=None, description="Text of the expected answer.")
    mask: Mask | None = Field(
        default=None,
        description="What no index shows: docstrings, or these and comments.",
    )
    anchor: str | None = Field(
        default=None, description="The text of the lines when they were marked; they are found again by it."
    )
    within: str | None = Field(
        default=None, description="The head of the code around the lines; tells equal lines in several places apart."
    )


class Row(NamedTuple):
    """A valid row and its number in the file."""

    number: int
    value: AnnotationRow


class Problems:
    """All problems of one file, reported at once; rows that may be skipped are counted instead."""

    def __init__(self, path: Path, skips: Skips | None = None) -> None:
        self._path = path
        self._skips = skips
        self._found: list[tuple[int, str]] = []

    def skip(self, number: int, reason: str, what: str, remedy: str) -> None:
        """Count an unusable row if the user chose to skip them; else record it as a problem."""
        if self._skips is not None and self._skips.policy == "skip":
            self._skips.note(RowProblemError(f"{self._path}:{number}", reason, what))
        else:
            self.add(number, what, remedy)

    def add(self, number: int, what: str, remedy: str) -> None:
        """Record one problem of a row."""
        self._found.append((number, f"{self._path}:{number}: {what}: {remedy}"))

    def check(self) -> None:
        """Raise one UsageError that lists all problems, up to a limit."""
        if not self._found:
            return
        lines = [text for _, text in sorted(self._found, key=lambda item: item[0])]
        more = len(lines) - MAX_PROBLEMS
        raise UsageError("\n".join(lines[:MAX_PROBLEMS] + ([f"and {more} more problems"] if more > 0 else [])))


def read_rows(path: Path, *, skips: Skips | None = None) -> list[Row]:
    """Return the rows of an annotation file; raise with all problems that can be found without the repository.

    With ``skips``, duplicate rows are handled by its policy.
    """
    problems = Problems(path, skips)
    rows = [row for number, text in _lines(path) if (row := _parse(number, text, problems))]
    rows = _check_together(rows, problems)
    problems.check()
    if not rows:
        raise UsageError(f"{path} has no rows: write one JSON object per line")
    return rows


def write_rows(rows: Iterable[AnnotationRow]) -> str:
    """Return the rows as JSON Lines, readable by `read_rows`."""
    return "".join(
        json.dumps(row.model_dump(exclude_defaults=True), ensure_ascii=False, sort_keys=False) + "\n" for row in rows
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of one row."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **AnnotationRow.model_json_schema()}


def queries_of(rows: Sequence[Row]) -> tuple[Query, ...]:
    """Return one query per id, in order of first appearance."""
    found: dict[str, Query] = {}
    for _, row in rows:
        known = found.get(row.query_id)
        if known is None or (known.expected is None and row.expected is not None):
            found[row.query_id] = Query(
                row.query_id,
                row.query,
                row.repo,
                expected=row.expected,
                kind=row.kind,
                category=row.category,
                language=row.language or "",
            )
    return tuple(found.values())


def annotations_of(rows: Sequence[Row]) -> tuple[Annotation, ...]:
    """Return one annotation per row."""
    return tuple(
        Annotation(
            row.query_id, row.repo, row.file, row.start_line, row.end_line, row.relevance, alternative=row.alternative
        )
        for _, row in rows
    )


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        text = read_text_input(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give the path of a JSON Lines file") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _parse(number: int, text: str, problems: Problems) -> Row | None:
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        problems.add(number, f"not JSON ({error.msg} at column {error.colno})", "write one JSON object per line")
        return None
    except ValueError as error:  # depth, or a number of thousands of digits
        problems.add(number, one_line(str(error), limit=100), "write one flat JSON object per line")
        return None
    if not isinstance(value, dict):
        problems.add(number, f"a JSON {type(value).__name__}, not an object", "write one JSON object per line")
        return None
    try:
        return Row(number, AnnotationRow.model_validate(value))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.add(number, *_explain(dict(detail)))
        return None


def _explain(detail: dict[str, Any]) -> tuple[str, str]:
    """Return what is wrong with a field, and the remedy."""
    name = ".".join(map(str, detail["loc"]))
    value = repr(detail["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    if detail["type"] == "missing":
        return f"{name} is missing", f"add {name}"
    if detail["type"] == "extra_forbidden":
        hint = nearest(name, AnnotationRow.model_fields).strip()
        return f"unknown key {name!r}", hint or "remove it"
    remedies = {
        "query_id": "write a text without spaces, which TREC files cannot hold",
        "query": "write the query's text",
        "relevance": "write a number from 0 to 1000",
        "start_line": "lines are whole numbers counted from 1",
        "end_line": "lines are whole numbers counted from 1",
        "commit": "write the commit's hexadecimal hash",
        "mask": "write docstrings or comments, or leave it out",
    }
    what = "query is empty" if name == "query" and detail["type"].startswith("string_pattern") else f"{name} is {value}"
    return what, remedies.get(name, detail["msg"].lower())


def _check_together(rows: Sequence[Row], problems: Problems) -> list[Row]:
    """Record problems between the fields of a row and between rows; return the rows without repetitions."""
    kept: list[Row] = []
    first: dict[str, Row] = {}
    seen: dict[tuple[object, ...], int] = {}
    for number, row in rows:
        if row.end_line < row.start_line:
            problems.add(
                number, f"end_line {row.end_line} is before start_line {row.start_line}", "swap or correct them"
            )
        parts = row.file.split("/")
        if "" in parts or ".." in parts or "." in parts or "\\" in row.file:
            what = f"file {row.file!r} is not a plain path below the repository"
            problems.add(number, what, "write it as folder/name, with forward slashes and no dots")
        # Two answers may share lines: each needs its own row of them.
        key = (row.query_id, row.alternative, row.repo, row.commit, row.file, row.start_line, row.end_line)
        other = first.setdefault(row.query_id, Row(number, row))
        for field in ("query", "repo", "commit", "mask", "category"):
            mine, theirs = getattr(row, field), getattr(other.value, field)
            if mine != theirs:
                what = f"{field} of query {row.query_id!r} differs from row {other.number}"
                problems.add(number, what, "give it another query_id, or the same " + field)
                break
        else:
            if key in seen:
                what = f"the same query and lines as row {seen[key]}"
                problems.skip(number, "duplicate row", what, "remove one of them")
            else:
                seen[key] = number
                kept.append(Row(number, row))
    return kept
