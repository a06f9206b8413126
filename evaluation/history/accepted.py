"""Which run is the baseline: an append-only file of acceptances, each with who and why."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import NamedTuple

from chunkers.bounded_json import parse_json
from chunkers.input_files import read_input
from evaluation.history.folder import History


class Acceptance(NamedTuple):
    """A person's decision that later runs are compared with this one."""

    run: int
    who: str
    why: str
    time: str


class Acceptances(NamedTuple):
    """All acceptances in file order, and a line for each that cannot be read."""

    given: list[Acceptance]
    damaged: list[str]


def accept(history: History, *, run: int, who: str, why: str, now: datetime) -> Acceptance:
    """Make a stored, undamaged run the baseline."""
    history.check_links()
    history.check(history.record(run))
    made = Acceptance(run, who, why, now.isoformat(timespec="seconds"))
    line = json.dumps(made._asdict(), ensure_ascii=False) + "\n"
    file = history.root / "accepted.jsonl"
    if file.exists() and not read_input(file).endswith(b"\n"):
        # A truncated line must not swallow this one.
        line = "\n" + line
    # One write to a file opened for appending: two simultaneous acceptances leave two complete lines.
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    return made


def acceptances(history: History) -> Acceptances:
    """Return all acceptances; the last readable one is in force."""
    file = history.root / "accepted.jsonl"
    given, damaged = [], []
    lines = read_input(file).splitlines() if file.exists() else []
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            given.append(Acceptance(int(row["run"]), str(row["who"]), str(row["why"]), str(row["time"])))
        except (ValueError, KeyError, TypeError, OverflowError):
            damaged.append(f"{file} line {place} is damaged and is skipped")
    return Acceptances(given, damaged)
