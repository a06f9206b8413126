"""The distribution of chunk sizes: one small histogram per chunker, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.marks import Mark


class Sizes(NamedTuple):
    """One chunker's histogram; an open last bin has None as its edge."""

    mark: Mark
    name: str
    edges: Sequence[float | None]
    counts: Sequence[int]


_TOP = 8.0


def sizes(rows: list[Sizes], *, unit: str, narrow: bool = False) -> Markup:
    """Draw the histograms, each scaled to its own tallest bar; all bins have the same width."""
    rows = _trimmed(rows)
    width = svg.NARROW if narrow else svg.WIDE
    left, row_height = (16.0, 64.0) if narrow else (250.0, 44.0)
    height = _TOP + row_height * len(rows) + 40
    parts: list[Markup] = []
    for k, row in enumerate(rows):
        base = _TOP + row_height * (k + 1) - 4
        if narrow:
            parts += [svg.badge(left + 8, base - 48, row.mark)]
            parts += [svg.text(left + 22, base - 44, svg.short(row.name, width - left - 22))]
        else:
            parts += [svg.badge(left - 22, base - 12, row.mark)]
            parts += [svg.text(left - 38, base - 8, svg.short(row.name, left - 38), anchor="end")]
        parts += [svg.line(left, base, width - 28, base, class_="grid")]
        parts += _bars(row, base, left=left, right=width - 28, tallest=34.0)
    if all(list(row.edges) == list(rows[0].edges) for row in rows):
        parts += _axis(rows[0].edges, height - 22, left=left, right=width - 28, most=6 if narrow else 10)
    parts += [svg.text((left + width) / 2, height - 5, unit, class_="tick", anchor="middle")]
    return svg.figure(width, height, "Distribution of chunk sizes, per chunker", *parts)


def _trimmed(rows: list[Sizes]) -> list[Sizes]:
    """Return the rows without bins that are empty everywhere at both ends; unchanged if their bins differ."""
    if any(list(row.edges) != list(rows[0].edges) for row in rows):
        return rows
    used = [k for k in range(len(rows[0].counts)) if any(row.counts[k] for row in rows)]
    if not used:
        return rows
    first, last = used[0], used[-1]
    return [row._replace(edges=row.edges[first : last + 2], counts=row.counts[first : last + 1]) for row in rows]


def _bars(row: Sizes, base: float, *, left: float, right: float, tallest: float) -> list[Markup]:
    most = max(row.counts, default=0) or 1
    step = (right - left) / max(1, len(row.counts))
    bars = []
    for place, count in enumerate(row.counts):
        if count:
            # A bin with a single chunk must remain visible.
            tall = max(1.0, count / most * tallest)
            box = {"x": left + place * step, "y": base - tall, "width": max(1.0, step - 1), "height": tall}
            bars.append(svg.tag("rect", **box, class_=f"bar {row.mark.colour_class}"))
    return bars


def _axis(edges: Sequence[float | None], y: float, *, left: float, right: float, most: int) -> list[Markup]:
    step = (right - left) / max(1, len(edges) - 1)
    every = max(1, -(-len(edges) // most))
    labels = [(k, "∞" if edges[k] is None else f"{edges[k]:,.0f}") for k in range(0, len(edges), every)]
    return [svg.text(left + k * step, y, label, class_="tick", anchor="middle") for k, label in labels]
