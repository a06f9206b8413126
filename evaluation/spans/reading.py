"""Reads span runs: JSON Lines, one row at a time, with every problem named by file and row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.input_files import open_input
from chunkers.plain_text import one_line
from evaluation.spans.rows import SpanRow, TrajectoryRow, explain
from ground_truth.annotations import Problems

MOST_ROWS = 5_000_000
LONGEST_ROW = 16_000_000
"""Bytes; a trajectory of many views is one row."""
_ENOUGH_PROBLEMS = 1_000


class NumberedRow(NamedTuple):
    """A valid row and its number."""

    number: int
    value: SpanRow


class RowProblems(Problems):
    """The problems of a span run; reading stops once there are more than anyone would read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.count = 0
        self.without_views = 0
        """Trajectories in which nothing was read."""

    def add(self, number: int, what: str, remedy: str) -> None:
        """Record one problem of a row."""
        super().add(number, what, remedy)
        self.count += 1
        if self.count >= _ENOUGH_PROBLEMS:
            self.check()


def read_rows(path: Path, problems: RowProblems) -> Iterator[NumberedRow]:
    """Yield the rows; each view of a trajectory is a row with its index as rank."""
    try:
        with open_input(path) as file:
            number = 0
            while line := file.readline(LONGEST_ROW + 1):
                number += 1
                if number > MOST_ROWS:
                    raise UsageError(f"{path} has more than {MOST_ROWS:,} rows: keep fewer results of each query")
                if len(line) > LONGEST_ROW:
                    raise UsageError(f"{path}:{number}: longer than {LONGEST_ROW:,} bytes: write one result per row")
                yield from _parse(number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, problems)
    except OSError as error:
        raise reading_error(path, error) from None


def reading_error(path: Path, error: OSError) -> UsageError:
    """Return the error for a span run that cannot be read."""
    return UsageError(f"{path} cannot be read ({error.strerror}): give the path of a JSON Lines file")


def _parse(number: int, line: bytes, problems: RowProblems) -> Iterator[NumberedRow]:
    if not line.strip():
        return
    try:
        value = parse_json(line)
    except json.JSONDecodeError as error:
        problems.add(number, f"not JSON ({error.msg} at column {error.colno})", "write one JSON object per line")
        return
    except (ValueError, RecursionError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else one_line(str(error), limit=100)
        problems.add(number, why, "write one flat JSON object per line, as UTF-8")
        return
    if not isinstance(value, dict):
        problems.add(number, f"a JSON {type(value).__name__}, not an object", "write one JSON object per line")
        return
    kind = TrajectoryRow if "views" in value else SpanRow
    try:
        row = kind.model_validate(value)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.add(number, *explain(dict(detail), kind))
        return
    if isinstance(row, SpanRow):
        yield NumberedRow(number, row)
    else:
        problems.without_views += not row.views
        yield from (NumberedRow(number, each) for each in views_of(row))


def views_of(row: TrajectoryRow) -> list[SpanRow]:
    """Return the views of a trajectory as rows of a span run: what was read first has rank 1."""
    shared = {"query_id": row.query_id, "run": row.run, "dataset": row.dataset}
    return [
        SpanRow.model_construct(
            **{**dict(view), **shared, "repo": view.repo or row.repo, "rank": rank, "score": None},
        )
        for rank, view in enumerate(row.views, start=1)
    ]
