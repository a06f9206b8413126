"""A measure over the runs: one series per cell, broken where runs cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.history.folder import DamagedRunError, History
from evaluation.history.origins import match_cells
from evaluation.history.record import RunRecord
from evaluation.report.formats import sparkline
from evaluation.types import CellKey


class Point(NamedTuple):
    """One run's mean with its interval."""

    run: int
    time: str
    mean: float
    low: float | None
    high: float | None
    commit: str
    broken: bool
    """Whether the scores cannot be compared with those of the point before."""
    verdict: str
    """What that night said of it against its baseline."""


@dataclass(frozen=True)
class Series:
    """One cell's values of one measure, in the order of the runs."""

    key: CellKey
    measure: str
    points: tuple[Point, ...]

    @property
    def spark(self) -> str:
        """The means as blocks between the least and the greatest."""
        values = [point.mean for point in self.points]
        low, high = min(values), max(values)
        if math.isclose(low, high, abs_tol=1e-12):
            return sparkline([0.5] * len(values))
        return sparkline([(value - low) / (high - low) for value in values])


class Trends(NamedTuple):
    """All series, and a line for each run that had to be skipped."""

    series: list[Series]
    skipped: list[str]


def trends(history: History, measures: Sequence[str], *, last: int | None = None) -> Trends:
    """Return the series of the measures over the last runs, or all."""
    runs, skipped = history.records()
    runs = runs[-last:] if last else runs
    points: dict[tuple[CellKey, str], list[Point]] = {}
    previous: RunRecord | None = None
    for run in runs:
        try:
            cells = history.means(run)
        except DamagedRunError as error:
            skipped.append(str(error))
            continue
        blocked = _blocked(run, previous)
        verdicts = {
            (CellKey(*(row[name] for name in CellKey._fields)), row["measure"]): row["verdict"]
            for row in run.night.get("findings", [])
        }
        for cell in cells:
            key = CellKey(*(cell[name] for name in CellKey._fields))
            for measure in measures:
                found = cell["measures"].get(measure)
                if cell["status"] != "ok" or not found or found["mean"] is None:
                    continue
                commit = str(run.sources.get(key.dataset, {}).get("commit") or "")
                verdict = verdicts.get((key, measure), "")
                values = (found["mean"], found["low"], found["high"])
                point = Point(run.number, run.time, *values, commit, key in blocked, verdict)
                points.setdefault((key, measure), []).append(point)
        previous = run
    return Trends([Series(key, measure, tuple(found)) for (key, measure), found in points.items()], skipped)


def known_measures(history: History) -> list[str]:
    """Return the measures of the newest readable run, the headline first."""
    for run in reversed(history.records().runs):
        headline = run.config.headline
        return list(dict.fromkeys([headline, *run.config.measures]))
    raise UsageError(f"{history.root} has no runs yet: chunkbench nightly FILE makes the first")


def check_measure(history: History, measure: str) -> str:
    """Return the measure; raise where the newest run does not have it."""
    known = known_measures(history)
    if measure not in known:
        hint = nearest(measure, known) or f" Known: {', '.join(known)}."
        raise UsageError(f"the newest run did not measure {measure!r}.{hint}")
    return measure


def _blocked(run: RunRecord, previous: RunRecord | None) -> set[CellKey]:
    if previous is None:
        return set()
    matches = match_cells(run, previous)
    return {key for key, match in matches.items() if match.before is None or match.reasons}
