"""Differences with their intervals, one row per chunker, against one reference."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg


class Difference(NamedTuple):
    """One row: a chunker's place in the ranking, its difference in points, and whether it is shown."""

    place: int
    name: str
    difference: float
    low: float
    high: float
    shown: bool
    note: str


_WIDTH, _LABEL, _NOTE, _ROW, _TOP = 820.0, 250.0, 190.0, 30.0, 34.0


def forest(rows: list[Difference], *, reference: str, unit: str) -> Markup:
    """Draw the rows around a line at zero; a hollow mark is a difference that is not shown."""
    low = min([0.0, *(row.low for row in rows)])
    high = max([0.0, *(row.high for row in rows)])
    margin = (high - low) * 0.05 or 1.0
    x = svg.linear((low - margin, high + margin), (_LABEL, _WIDTH - _NOTE))
    height = _TOP + _ROW * len(rows) + 36
    bottom = height - 32
    parts = [svg.text(_LABEL - 10, 16, f"against {reference}", class_="label strong", anchor="end")]
    for value in svg.ticks(low - margin, high + margin):
        parts += [svg.line(x(value), _TOP - 10, x(value), bottom, class_="grid")]
        parts += [svg.text(x(value), bottom + 18, f"{value:+g}" if value else "0", class_="tick", anchor="middle")]
    parts += [svg.line(x(0), _TOP - 10, x(0), bottom, class_="zero")]
    parts += [svg.text(_WIDTH - _NOTE, bottom + 18, unit, class_="tick")]
    for k, row in enumerate(rows):
        y = _TOP + _ROW * k + 8
        parts += [svg.text(_LABEL - 10, y + 4, _short(row.name), anchor="end")]
        parts += [svg.line(x(row.low), y, x(row.high), y, class_=f"whisker {svg.colour(row.place)}")]
        parts += [svg.badge(x(row.difference), y, row.place, hollow=not row.shown)]
        parts += [svg.text(_WIDTH - _NOTE + 12, y + 4, row.note, class_="tick")]
    return svg.figure(_WIDTH, height, f"Differences from {reference} with 95 % intervals", *parts)


def _short(name: str, most: int = 34) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
