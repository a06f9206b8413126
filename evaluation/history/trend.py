"""A measure over the runs: one series per cell, broken where runs cannot be compared."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.history.comparison import limits_of
from evaluation.history.folder import DamagedRunError, History
from evaluation.history.origins import all_differences, match_cells
from evaluation.history.record import RunRecord
from evaluation.report.formats import is_share, sparkline
from evaluation.report.latex import without_paths
from evaluation.types import CellKey

_LEAST_SHARE = 0.1
"""A share is drawn over at least ten points, any other measure over at least a fifth of its value."""


class Point(NamedTuple):
    """One run's mean with its interval."""

    run: int
    time: str
    mean: float
    low: float | None
    high: float | None
    commit: str
    broken: bool
    """Whether the scores cannot be compared with those of the previous point."""
    verdict: str
    """That night's verdict on it against its baseline."""
    quiet: tuple[float, float] | None = None
    """The range that night would have called no change: chance variation."""


class Note(NamedTuple):
    """An event at a run, apart from the scores."""

    run: int
    label: str
    words: str


@dataclass(frozen=True)
class Series:
    """One cell's values of one measure, in run order."""

    key: CellKey
    measure: str
    points: tuple[Point, ...]
    uses_vectors: bool = True
    """Whether the embedder was involved."""

    @property
    def setting(self) -> str:
        """Dataset, embedder and retriever in one line, without those that are not used."""
        used = (self.uses_vectors, not self.key.is_span_run)
        return " · ".join((self.key.dataset, *itertools.compress((self.key.embedder, self.key.retriever), used)))

    @property
    def reach(self) -> tuple[float, float]:
        """The range of a drawing: all known values, and at least three times the chance variation.

        So noise does not look like a collapse.
        """
        quiet = [point.quiet for point in self.points if point.quiet]
        values = [*(point.mean for point in self.points), *(edge for pair in quiet for edge in pair)]
        low, high = min(values), max(values)
        least = _LEAST_SHARE if is_share(self.measure) else 2 * _LEAST_SHARE * max(abs(low), abs(high))
        more = max([least, *(3 * (pair[1] - pair[0]) for pair in quiet)]) - (high - low)
        return low - max(0.0, more) / 2, high + max(0.0, more) / 2

    @property
    def moved(self) -> bool:
        """Whether some night called a change of it real."""
        return any(point.verdict in ("regression", "improvement") for point in self.points)

    @property
    def spark(self) -> str:
        """The means as block characters."""
        low, high = self.reach
        width = (high - low) or 1.0
        return sparkline([(point.mean - low) / width for point in self.points])


class Trends(NamedTuple):
    """All series, the changed inputs from run to run, and a line for each skipped run."""

    series: list[Series]
    skipped: list[str]
    changes: list[Note]


def trends(history: History, measures: Sequence[str], *, last: int | None = None) -> Trends:
    """Return the series of the measures over the last runs, or all."""
    runs, skipped = history.records()
    runs = runs[-last:] if last else runs
    points: dict[tuple[CellKey, str], list[Point]] = {}
    lexical: set[CellKey] = set()
    previous: RunRecord | None = None
    changes: list[Note] = []
    for run in runs:
        try:
            cells = history.means(run)
        except DamagedRunError as error:
            skipped.append(str(error))
            continue
        blocked = _blocked(run, previous)
        changes += _changes(run, previous)
        findings = {
            (CellKey(*(row[name] for name in CellKey._fields)), row["measure"]): row
            for row in run.night.get("findings", [])
        }
        for cell in cells:
            key = CellKey(*(cell[name] for name in CellKey._fields))
            lexical |= set() if cell["chunks"].get("uses_vectors", True) else {key}
            for measure in measures:
                found = cell["measures"].get(measure)
                if cell["status"] != "ok" or not found or found["mean"] is None:
                    continue
                commit = str(run.sources.get(key.dataset, {}).get("commit") or "")
                finding = findings.get((key, measure), {})
                values = (found["mean"], found["low"], found["high"])
                verdict, quiet = finding.get("verdict", ""), _quiet(finding, run, mean=found["mean"])
                point = Point(run.number, run.time, *values, commit, key in blocked, verdict, quiet)
                points.setdefault((key, measure), []).append(point)
        previous = run
    series = [
        Series(key, measure, tuple(found), uses_vectors=key not in lexical) for (key, measure), found in points.items()
    ]
    return Trends(series, skipped, changes)


def by_setting(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Return measure and setting in a line → its series; a chunker occurs once if an embedder is not used.

    Paths are reduced to their last part, unless two settings would look the same.
    """
    groups: dict[str, dict[str, Series]] = {}
    for one in series:
        groups.setdefault(f"{one.measure} · {one.setting}", {}).setdefault(one.key.chunker, one)
    short = [without_paths(title) for title in groups]
    titles = short if len(set(short)) == len(short) else list(groups)
    return {title: list(held.values()) for title, held in zip(titles, groups.values(), strict=True)}


def _changes(run: RunRecord, previous: RunRecord | None) -> list[Note]:
    """Return one note of the inputs changed since the previous run: chunkers, models, packages, not the code."""
    found = [each.words for each in all_differences(run, previous) if each.kind != "dataset"] if previous else []
    return [Note(run.number, "changed", "; ".join(found))] if found else []


def _quiet(finding: Mapping[str, Any], run: RunRecord, *, mean: float) -> tuple[float, float] | None:
    """Return the values at which the night would have found no change: its interval's width, or the minimum effect.

    The night compares the queries that both runs have, and the drawn mean is that of all queries of its run: the range
    lies about the mean that the run would have had if those queries had scored as before.
    """
    before, now, low, high = (finding.get(name) for name in ("before", "now", "low", "high"))
    if before is None or now is None or low is None or high is None:
        return None
    least = limits_of(run.config).minimum_effect * (1.0 if is_share(finding["measure"]) else abs(before))
    half = max((high - low) / 2, least)
    centre = before + (mean - now)
    return centre - half, centre + half


def known_measures(history: History) -> list[str]:
    """Return the measures of the newest readable run, the headline first."""
    for run in reversed(history.records().runs):
        headline = run.config.headline
        return list(dict.fromkeys([headline, *run.config.measures]))
    raise UsageError(f"{history.root} has no runs yet: chunkbench nightly FILE makes the first")


def check_measure(history: History, measure: str) -> str:
    """Return the measure; raise if the newest run does not have it."""
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
