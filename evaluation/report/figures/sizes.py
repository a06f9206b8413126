"""How large each chunker's chunks are: one small histogram per chunker, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg


class Sizes(NamedTuple):
    """One chunker's histogram."""

    place: int
    name: str
    edges: Sequence[float | None]
    counts: Sequence[int]


_WIDTH, _LABEL, _ROW, _TOP = 820.0, 250.0, 44.0, 8.0


def sizes(rows: list[Sizes], *, unit: str) -> Markup:
    """Draw the histograms, each scaled to its own tallest bar; bins are drawn equally wide."""
    height = _TOP + _ROW * len(rows) + 40
    parts: list[Markup] = []
    bottom = height - 36
    shared = all(list(row.edges) == list(rows[0].edges) for row in rows)
    for k, row in enumerate(rows):
        base = _TOP + _ROW * (k + 1) - 4
        parts += [svg.badge(_LABEL - 22, base - 12, row.place)]
        name = row.name if len(row.name) <= 32 else row.name[:31] + "…"
        parts += [svg.text(_LABEL - 38, base - 8, name, anchor="end")]
        parts += [svg.line(_LABEL, base, _WIDTH - 16, base, class_="grid")]
        tallest = max(row.counts, default=0) or 1
        step = (_WIDTH - 16 - _LABEL) / max(1, len(row.counts))
        for bin_, count in enumerate(row.counts):
            if count:
                tall = max(1.0, count / tallest * (_ROW - 10))
                x, wide = _LABEL + bin_ * step, max(1.0, step - 1)
                parts += [
                    svg.tag("rect", x=x, y=base - tall, width=wide, height=tall, class_=f"bar {svg.colour(row.place)}")
                ]
    if rows and shared:
        edges = rows[0].edges
        step = (_WIDTH - 16 - _LABEL) / max(1, len(edges) - 1)
        every = max(1, -(-len(edges) // 10))
        for k in range(0, len(edges), every):
            edge = edges[k]
            label = "∞" if edge is None else f"{edge:,.0f}"
            parts += [svg.text(_LABEL + k * step, bottom + 14, label, class_="tick", anchor="middle")]
    parts += [svg.text((_LABEL + _WIDTH) / 2, height - 6, unit, class_="tick", anchor="middle")]
    return svg.figure(_WIDTH, height, "Distribution of chunk sizes, per chunker", *parts)
