"""trend.html: every gated measure over the runs, in one self-contained file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.atomic import replace_text
from evaluation.history.accepted import acceptances
from evaluation.history.comparison import measures_of
from evaluation.history.folder import History
from evaluation.history.record import RunRecord
from evaluation.history.trend import Note, Series, by_setting, trends
from evaluation.history.trend_figure import trend_figure
from evaluation.report.figures.marks import Mark, marks
from evaluation.report.figures.svg import icon
from evaluation.report.formats import is_share, lower_is_better, score, span, unit_words
from evaluation.report.glossary import Glossary
from evaluation.report.page import dressing, template
from evaluation.report.sections import Figure
from evaluation.report.tables import Table

_NEWEST = 60
"""Runs that the table lists; the drawings have all."""


def write_trend_page(history: History, file: Path, *, measures: Sequence[str] = ()) -> None:
    """Write the page: the given measures, or those that the newest run gates."""
    replace_text(file, trend_page(history, measures=measures))


def trend_page(history: History, *, measures: Sequence[str] = ()) -> str:
    """Return the page."""
    runs, _ = history.records()
    chosen = list(measures) or (measures_of(runs[-1].config) if runs else [])
    found = trends(history, chosen)
    accepted = acceptances(history).given
    drawn = _marks(runs)
    notes = [*found.changes, *(Note(one.run, "accepted", f"{one.who}: {one.why}") for one in accepted)]
    return template("trend.html", "evaluation.history").render(
        **dressing(),
        glossary=Glossary.of(chosen),
        icon=icon,
        marks={name: mark for name, mark in drawn.items() if name in {one.key.chunker for one in found.series}},
        figures=_figures(found.series, drawn, notes),
        changes=list(reversed(found.changes)),
        runs=[_row(run) for run in reversed(runs[-_NEWEST:])],
        accepted=[one._asdict() for one in reversed(accepted)],
        skipped=found.skipped,
    )


def _marks(runs: Sequence[RunRecord]) -> dict[str, Mark]:
    """Return each chunker's mark: as in the newest run's report, followed by those of earlier runs."""
    newest_first = reversed(runs)
    return marks(name for run in newest_first for name in (*run.config.chunkers, *(c.key.chunker for c in run.cells)))


def _figures(series: Sequence[Series], drawn: Mapping[str, Mark], notes: Sequence[Note]) -> list[tuple[str, Figure]]:
    figures = []
    for title, rows in by_setting(series).items():
        measure = rows[0].measure
        sign = 1 if lower_is_better(measure) else -1
        rows.sort(key=lambda row: (sign * row.points[-1].mean, row.key.chunker))
        wide, narrow = (trend_figure(rows, drawn, notes=notes, narrow=narrow) for narrow in (False, True))
        unit = (
            "in points of 100"
            if is_share(measure)
            else f"in {unit_words(measure)}"
            if unit_words(measure)
            else "as it is"
        )
        caption = (
            f"Mean {measure} of each run, {unit}. A band is what chance does: inside it a night finds nothing; the "
            "leading chunkers have one. A dashed line is a run that was accepted or at which something changed "
            "underneath; a line is cut where runs cannot be compared; a numbered mark on a line is a change that the "
            "night called real, hollow for the worse. Chunkers have the marks of the newest report."
        )
        figures.append((title, Figure(wide, narrow, caption, _table(rows))))
    return figures


def _table(rows: Sequence[Series]) -> Table:
    cells = [
        [
            row.key.chunker,
            str(point.run),
            point.time,
            score(row.measure, point.mean),
            span(row.measure, point.low, point.high),
            point.commit[:12],
            point.verdict,
        ]
        for row in rows
        for point in reversed(row.points[-_NEWEST:])
    ]
    data = [
        {"chunker": row.key.chunker, "measure": row.measure, **point._asdict(), "quiet": None}
        for row in rows
        for point in reversed(row.points[-_NEWEST:])
    ]
    header = ["chunker", "run", "time", "mean", "95 % interval", "commit", "verdict"]
    return Table("", header, cells, data, words={0, 5, 6})


def _row(run: RunRecord) -> dict[str, Any]:
    commits = [str(source["commit"])[:12] for source in run.sources.values() if source.get("commit")]
    return {
        "number": run.number,
        "folder": f"runs/{run.number:05}",
        "time": run.time,
        "commits": ", ".join(commits),
        "baseline": run.night.get("baseline"),
        "headline": run.night.get("headline", ""),
        "alarm": run.night.get("exit_code", 0) == 3,
    }
