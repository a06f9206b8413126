"""Rows of published files: JSON Lines, JSON or Parquet, each with its number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.plain_text import one_line

_ROWS_AT_ONCE = 256
_LARGEST_TABLE = 16 * 2**30
"""Maximum bytes of all rows of a file; the largest published ones have a tenth of it."""


class Record(NamedTuple):
    """One row and its location, for messages."""

    where: str
    fields: dict[str, Any]

    def text(self, name: str) -> str:
        """Return a required text field."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise UsageError(f"{self.where}: {name} is {_short(value)}: a text was expected")
        return value

    def number(self, name: str) -> int:
        """Return a required non-negative integer field."""
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise UsageError(f"{self.where}: {name} is {_short(value)}: a whole number of at least 0 was expected")
        return value

    def inner(self, name: str) -> Record:
        """Return a required object field; a text is parsed as JSON."""
        value = self.fields.get(name)
        if not isinstance(value, dict):
            raise UsageError(f"{self.where}: {name} is {_short(value)}: an object was expected")
        return Record(self.where, value)


def read_records(path: Path) -> Iterator[Record]:
    """Yield the rows of a .jsonl, .json (a list) or .parquet file; raise, naming file and row, if one is broken."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file: give the path of the dataset")
    if path.suffix == ".parquet":
        yield from _parquet(path)
    elif path.suffix == ".json":
        yield from _json(path)
    else:
        yield from _lines(path)


def _lines(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig") as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _record(path, number, parse_json(line))
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is not UTF-8 ({error.reason}): is it the right file?") from None
        except ValueError as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else one_line(str(error), limit=100)
            raise UsageError(f"{path}:{number}: not JSON ({why}): one object per line was expected") from None


def _json(path: Path) -> Iterator[Record]:
    try:
        value = parse_json(read_text_input(path))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {one_line(str(error), limit=100)}") from None
    if not isinstance(value, list):
        raise UsageError(f"{path} holds a JSON {type(value).__name__}: a list of objects was expected")
    for number, row in enumerate(value, 1):
        yield _record(path, number, row)


def _parquet(path: Path) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = size = 0
    try:
        with pq.ParquetFile(path) as file:
            # A few bytes can stand for a billion equal rows: rows are unpacked in batches, and their sizes summed.
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                size += batch.nbytes
                if size > _LARGEST_TABLE:
                    raise UsageError(f"{path} unpacks to over {_LARGEST_TABLE // 2**30} GB: it is not a dataset")
                for row in batch.to_pylist():
                    number += 1
                    yield _record(path, number, row)
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError, MemoryError) as error:
        # The Parquet reader raises many kinds of exceptions for corrupt bytes.
        raise UsageError(f"{path} is not a Parquet file: {one_line(str(error), limit=200)}") from None


def _record(path: Path, number: int, value: object) -> Record:
    if not isinstance(value, dict):
        raise UsageError(f"{path}:{number}: a JSON {type(value).__name__}: an object was expected")
    return Record(f"{path}:{number}", value)


def _short(value: object) -> str:
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
