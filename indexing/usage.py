"""Use of each part of the embedding cache: one line per call, in a file that anyone may have edited."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.input_files import open_input

_FILE = "usage.jsonl"
_LARGEST = 2**53


class Use(NamedTuple):
    """One call to the cache."""

    at: int
    """Seconds since 1970."""
    texts: int
    distinct: int
    embedded: int
    seconds: float
    """Time spent in the model."""
    characters: int = 0
    """Of the embedded texts."""


def note_use(group: Path, use: Use) -> None:
    """Add a line; if the cache is read-only or full, only this record is lost, not the vectors."""
    try:
        # Does not wait on a pipe in its place.
        handle = os.open(group / _FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o666)
        with os.fdopen(handle, "a", encoding="utf-8") as log:
            log.write(json.dumps(use._asdict()) + "\n")
    except OSError:
        return


def uses(group: Path) -> Iterator[Use]:
    """Yield the recorded calls; lines that a crash has cut, or a hand has edited, are skipped."""
    try:
        with open_input(group / _FILE) as log:
            for line in log:
                if use := _parsed(line):
                    yield use
    except (OSError, UsageError):
        return


def _parsed(line: bytes) -> Use | None:
    try:
        row = json.loads(line)
        counts = [row.get(field, 0) for field in Use._fields]
    except (ValueError, AttributeError, RecursionError):
        return None
    if not all(type(each) in (int, float) and math.isfinite(each) and 0 <= each < _LARGEST for each in counts):
        return None
    at, texts, distinct, embedded, seconds, characters = counts
    return Use(int(at), int(texts), int(distinct), int(embedded), float(seconds), int(characters))
