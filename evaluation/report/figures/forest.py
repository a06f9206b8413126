"""Differences with their intervals, one row per chunker, against one reference."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.marks import Mark


class Difference(NamedTuple):
    """One row: a chunker's place in the ranking, its difference in points, and whether it is shown."""

    mark: Mark
    name: str
    difference: float
    low: float
    high: float
    shown: bool
    note: str


_LABEL, _NOTE = 250.0, 196.0
"""Room for a name, and for the longest answer ("−12.3, practically the same")."""


def forest(rows: list[Difference], *, reference: str, unit: str, narrow: bool = False) -> Markup:
    """Draw the rows around a line at zero; a hollow mark is a difference that is not shown."""
    width = svg.NARROW if narrow else svg.WIDE
    left, right = (16.0, width - 16) if narrow else (_LABEL, width - _NOTE)
    row_height, top = (60.0, 30.0) if narrow else (30.0, 34.0)
    low = min([0.0, *(row.low for row in rows)])
    high = max([0.0, *(row.high for row in rows)])
    margin = (high - low) * 0.05 or 1.0
    x = svg.linear((low - margin, high + margin), (left, right))
    height = top + row_height * len(rows) + 36
    bottom = height - 32
    edge = left if narrow else 0.0
    title = svg.short(f"against {reference}", width - edge, character=svg.BOLD)
    parts = [svg.text(edge, 16, title, class_="strong")]
    for value in svg.ticks(low - margin, high + margin, 4 if narrow else 6):
        parts += [svg.line(x(value), top - 10, x(value), bottom, class_="grid")]
        parts += [svg.text(x(value), bottom + 18, svg.signed(value), class_="tick", anchor="middle")]
    parts += [svg.line(x(0), top - 10, x(0), bottom, class_="zero")]
    if not narrow:
        parts += [svg.text(right + 12, bottom + 18, unit, class_="tick")]
    for k, row in enumerate(rows):
        y = top + row_height * k + (42 if narrow else 8)
        if narrow:
            parts += [svg.text(left, y - 29, svg.short(row.name, width - left), class_="halo")]
            parts += [svg.text(left, y - 14, row.note, class_="tick halo")]
        else:
            parts += [svg.text(left - 10, y + 4, svg.short(row.name, left - 10), anchor="end")]
            parts += [svg.text(right + 12, y + 4, row.note, class_="tick")]
        parts += [svg.line(x(row.low), y, x(row.high), y, class_=f"whisker {row.mark.colour_class}")]
        parts += [svg.badge(x(row.difference), y, row.mark, hollow=not row.shown)]
    label = f"Differences from {reference} with 95 % intervals"
    return svg.figure(width, height, label, *parts)
