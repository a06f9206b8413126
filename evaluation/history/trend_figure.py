"""A measure over the runs as a drawing: a line per chunker, a band of chance variation, marks for findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise

from markupsafe import Markup

from evaluation.history.trend import Note, Point, Series
from evaluation.report.figures import svg
from evaluation.report.figures.marks import Mark
from evaluation.report.formats import scale

_Scale = Callable[[float], float]
_LEFT, _TOP, _BOTTOM, _LABELS = 46.0, 14.0, 46.0, 232.0
BANDS = 3
"""More bands than this would hide each other; the table has the rest."""
_DOTS = 40
"""With more runs than this, dots would merge."""


def trend_figure(
    rows: Sequence[Series], marks: Mapping[str, Mark], *, notes: Sequence[Note] = (), narrow: bool = False
) -> Markup:
    """Draw the series of one measure; runs are in the order of their numbers, with events written at their runs."""
    width = svg.NARROW if narrow else svg.WIDE
    height = max(260.0 if narrow else 340.0, 19.0 * len(rows) + _TOP + _BOTTOM)
    edge, base = width - (40 if narrow else _LABELS), height - _BOTTOM
    measure, factor = rows[0].measure, scale(rows[0].measure)
    runs = sorted({point.run for row in rows for point in row.points})
    low, high = _range(rows, factor)
    x = svg.linear((runs[0], runs[-1]), (_LEFT + 8, edge - 8))
    y = svg.linear((low, high), (base, _TOP))
    parts: list[Markup] = []
    for value in svg.ticks(low, high):
        parts += [svg.line(_LEFT, y(value), edge, y(value), class_="grid")]
        parts += [svg.text(_LEFT - 8, y(value) + 4, f"{value:g}", class_="tick", anchor="end")]
    for value in _run_ticks(runs, 4 if narrow else 8):
        parts += [svg.text(x(value), base + 18, f"{value:g}", class_="tick", anchor="middle")]
    parts += [svg.text((_LEFT + edge) / 2, height - 8, "run", class_="tick", anchor="middle")]
    parts += _notes([note for note in notes if note.run in runs], x, base, edge)
    # Changes matter most: their band shows why the night called them a change.
    banded = sorted(rows, key=lambda row: not row.moved)[:BANDS]
    for row in reversed(rows):
        mark = marks[row.key.chunker]
        for piece in _pieces(row.points):
            parts += _band(piece, x, y, factor, mark) if row in banded else []
            points = [(x(point.run), y(factor * point.mean)) for point in piece]
            parts += [svg.path(points, class_=f"line {mark.line_class}")]
        parts += [_dot(point, x, y, factor, mark) for point in row.points if _shown(point, len(runs))]
    ends = svg.spread([y(factor * row.points[-1].mean) for row in rows], 19, _TOP + 4, base - 4)
    for row, end in zip(rows, ends, strict=True):
        last = row.points[-1]
        parts += [svg.line(x(last.run), y(factor * last.mean), edge + 14, end, class_="leader")]
        parts += [svg.badge(edge + 23, end, marks[row.key.chunker])]
        if not narrow:
            name = svg.short(row.key.chunker, width - edge - 37, character=svg.TICK)
            parts += [svg.text(edge + 37, end + 4, name, class_="tick")]
    return svg.figure(width, height, f"{measure} over the runs, per chunker", *parts)


def _range(rows: Sequence[Series], factor: float) -> tuple[float, float]:
    """Return the range to draw, with some padding."""
    ends = [factor * end for row in rows for end in row.reach]
    low, high = min(ends), max(ends)
    air = 0.03 * (high - low) or 1.0
    return low - air, high + air


def _notes(notes: Sequence[Note], x: _Scale, base: float, edge: float) -> list[Markup]:
    """Return a dashed line for each run with an event; its text is written if there is room."""
    parts, free = [], 0.0
    for run, held in groupby(sorted(notes), key=lambda note: note.run):
        told = list(held)
        label = ", ".join(dict.fromkeys(note.label for note in told))
        title = svg.tag("title", "; ".join(f"{note.label}: {note.words}" for note in told))
        parts += [svg.tag("g", title, svg.line(x(run), _TOP, x(run), base, class_="zero dashed"))]
        wide = 6.5 * len(label) + 3
        if x(run) >= free and x(run) + wide < edge:
            parts += [svg.text(x(run) + 3, _TOP + 9, label, class_="tick halo")]
            free = x(run) + wide + 5
        elif x(run) - wide >= free:
            parts += [svg.text(x(run) - 3, _TOP + 9, label, class_="tick halo", anchor="end")]
            free = x(run) + 3
    return parts


def _run_ticks(runs: Sequence[int], about: int) -> list[float]:
    if len(runs) <= about:
        return [float(run) for run in runs]
    return [value for value in svg.ticks(runs[0], runs[-1], about) if value == int(value)]


def _pieces(points: Sequence[Point]) -> list[list[Point]]:
    """Split a series where runs cannot be compared: a line across would suggest that they can."""
    pieces = [[points[0]]]
    for _, point in pairwise(points):
        if point.broken:
            pieces.append([])
        pieces[-1].append(point)
    return pieces


def _band(piece: Sequence[Point], x: _Scale, y: _Scale, factor: float, mark: Mark) -> list[Markup]:
    """Return the chance variation at each run: between these values the night would have found no change."""
    known = [(point.run, *point.quiet) for point in piece if point.quiet]
    if len(known) < 2:
        return []
    upper = [(x(run), y(factor * high)) for run, _, high in known]
    lower = [(x(run), y(factor * low)) for run, low, _ in known]
    return [svg.path([*upper, *reversed(lower)], class_=f"band {mark.colour_class}", closed=True)]


def _shown(point: Point, runs: int) -> bool:
    return runs <= _DOTS or point.broken or point.verdict in ("regression", "improvement")


def _dot(point: Point, x: _Scale, y: _Scale, factor: float, mark: Mark) -> Markup:
    """Return a small dot, or a numbered disc if the night called it a change: hollow for the worse."""
    spot = x(point.run), y(factor * point.mean)
    if point.verdict in ("regression", "improvement"):
        return svg.badge(*spot, mark, hollow=point.verdict == "regression")
    return svg.dot(*spot, mark, radius=3.0)
