"""The run that tonight is compared with: the last accepted one that is intact."""

from __future__ import annotations

from dataclasses import dataclass

from chunkers.errors import UsageError
from evaluation.history.accepted import acceptances
from evaluation.history.folder import History
from evaluation.history.record import RunRecord
from evaluation.results.types import Results


@dataclass(frozen=True)
class Baseline:
    """The accepted run with its scores, or neither; the notes name what was skipped."""

    record: RunRecord | None = None
    results: Results | None = None
    notes: tuple[str, ...] = ()


def find_baseline(history: History) -> Baseline:
    """Return the newest acceptance whose run can be read; a damaged one is reported and the previous one is tried."""
    given, damaged = acceptances(history)
    notes = list(damaged)
    tried: set[int] = set()
    for acceptance in reversed(given):
        if acceptance.run in tried:
            continue
        tried.add(acceptance.run)
        try:
            record = history.record(acceptance.run)
            return Baseline(record, history.results(record), tuple(notes))
        except UsageError as error:
            notes.append(f"the baseline cannot be used: {error}")
    return Baseline(None, None, tuple(notes))
