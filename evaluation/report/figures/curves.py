"""Share of the answer read against the text read, with a band for each of the leading chunkers."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.marks import Mark


class Curve(NamedTuple):
    """One chunker's mean recall and its interval at each budget, as shares."""

    mark: Mark
    name: str
    mean: list[float]
    low: list[float]
    high: list[float]


_LEFT, _TOP, _BOTTOM, _LABELS = 40.0, 14.0, 46.0, 232.0
BANDS = 3
"""More bands than this would hide each other; the table has the rest."""


def curves(
    rows: list[Curve], budgets: tuple[int, ...], *, unit: str, headline_budget: int | None, narrow: bool = False
) -> Markup:
    """Draw the curves, best first; their numbered ends are spread out where values overlap."""
    width = svg.NARROW if narrow else svg.WIDE
    # Room for every numbered end, however many there are.
    height = max(300.0 if narrow else 420.0, 19.0 * len(rows) + _TOP + _BOTTOM)
    edge, base = width - (40 if narrow else _LABELS), height - _BOTTOM
    x = svg.linear((0, budgets[-1]), (_LEFT, edge))
    top = min(1.0, max((row.high[-1] for row in rows), default=1.0) * 1.05) or 1.0
    y = svg.linear((0, top), (base, _TOP))
    parts: list[Markup] = []
    for value in svg.ticks(0, top):
        parts += [svg.line(_LEFT, y(value), edge, y(value), class_="grid")]
        parts += [svg.text(_LEFT - 8, y(value) + 4, f"{100 * value:g}", class_="tick", anchor="end")]
    for value in svg.ticks(0, budgets[-1], 4 if narrow else 6):
        parts += [svg.text(x(value), base + 18, f"{value:,g}", class_="tick", anchor="middle")]
    parts += [svg.text((_LEFT + edge) / 2, height - 8, f"{unit} read", class_="tick", anchor="middle")]
    if headline_budget is not None and headline_budget <= budgets[-1]:
        parts += [svg.line(x(headline_budget), _TOP, x(headline_budget), base, class_="zero dashed")]
    for row in reversed(rows[:BANDS]):
        upper = [(x(b), y(v)) for b, v in zip(budgets, row.high, strict=True)]
        lower = [(x(b), y(v)) for b, v in zip(budgets, row.low, strict=True)]
        parts += [svg.path([*upper, *reversed(lower)], class_=f"band {row.mark.colour_class}", closed=True)]
    for row in reversed(rows):
        points = [(x(0), y(0)), *((x(b), y(v)) for b, v in zip(budgets, row.mean, strict=True))]
        parts += [svg.path(points, class_=f"line {row.mark.line_class}")]
    ends = svg.spread([y(row.mean[-1]) for row in rows], 19, _TOP + 4, base - 4)
    for row, end in zip(rows, ends, strict=True):
        parts += [svg.line(edge, y(row.mean[-1]), edge + 14, end, class_="leader")]
        parts += [svg.badge(edge + 23, end, row.mark)]
        if not narrow:
            name = svg.short(row.name, width - edge - 37, character=svg.TICK)
            parts += [svg.text(edge + 37, end + 4, name, class_="tick")]
    return svg.figure(width, height, f"Share of the answer read against {unit} read, per chunker", *parts)
