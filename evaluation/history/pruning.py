"""Removes old runs by count or by age; the baseline and the newest run always stay."""

from __future__ import annotations

from datetime import datetime, timedelta

from evaluation.history.accepted import acceptances
from evaluation.history.folder import History


def prune(
    history: History,
    *,
    keep: int | None = None,
    older_than: timedelta | None = None,
    now: datetime | None = None,
    dry: bool = False,
) -> list[int]:
    """Remove the runs beyond the newest ``keep``, or older than an age, and return their numbers.

    A damaged run has no readable age: it goes by count alone. A folder that only has a number for a name stays.
    """
    numbers = list(filter(history.is_run, history.numbers()))
    given = acceptances(history).given
    stays = {*numbers[-1:], *(one.run for one in given[-1:])}
    gone: set[int] = set()
    if keep is not None:
        gone |= set(numbers[: max(0, len(numbers) - keep)])
    if older_than is not None and now is not None:
        gone |= {run.number for run in history.records().runs if now - datetime.fromisoformat(run.time) > older_than}
    removed = sorted((gone & set(numbers)) - stays)
    if not dry:
        for number in removed:
            history.remove(number)
    return removed
