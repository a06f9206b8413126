"""One small panel per repository or language: do the chunkers keep their order everywhere?"""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.marks import Mark

ROWS = 8
"""Chunkers shown in a panel; the table has all."""
_WIDTH, _ROW, _TOP = 220.0, 20.0, 6.0


class Panel(NamedTuple):
    """Means per chunker, in ranking order, of one group of queries; None if nothing is scored."""

    name: str
    queries: int
    means: list[tuple[Mark, float | None]]


def panel(one: Panel, *, domain: tuple[float, float]) -> Markup:
    """Draw the leading chunkers' means on an axis that all panels share."""
    rows = one.means[:ROWS]
    height = _TOP + _ROW * len(rows) + 20
    x = svg.linear(domain, (14, _WIDTH - 14))
    parts: list[Markup] = []
    for value in svg.ticks(*domain, about=4):
        parts += [svg.line(x(value), _TOP, x(value), height - 18, class_="grid")]
        parts += [svg.text(x(value), height - 4, f"{value:g}", class_="tick", anchor="middle")]
    for place, (mark, mean) in enumerate(rows):
        y = _TOP + _ROW * place + _ROW / 2
        if mean is not None:
            parts += [svg.line(x(domain[0]), y, x(mean), y, class_=f"stem {mark.colour_class}")]
            parts += [svg.badge(x(mean), y, mark)]
    return svg.figure(_WIDTH, height, f"{one.name}: mean per chunker", *parts)
