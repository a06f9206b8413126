"""Score against mean chunk size: whether the best chunker is simply the one with a certain size."""

from __future__ import annotations

import math
from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg


class Point(NamedTuple):
    """One chunker: its mean chunk size, and its score with the interval, in points."""

    place: int
    name: str
    size: float
    mean: float
    low: float
    high: float


_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 20.0, 16.0, 46.0


def scatter(points: list[Point], *, measure: str, narrow: bool = False) -> Markup:
    """Draw the points on a logarithmic size axis; few points carry their names, many their numbers only."""
    width, height = (svg.NARROW, 300.0) if narrow else (svg.WIDE, 360.0)
    smallest = min(point.size for point in points) / 1.3
    largest = max(point.size for point in points) * 1.3
    along = svg.linear((math.log(smallest), math.log(largest)), (_LEFT, width - _RIGHT))
    low, high = min(point.low for point in points), max(point.high for point in points)
    margin = (high - low) * 0.08 or 1.0
    y = svg.linear((low - margin, high + margin), (height - _BOTTOM, _TOP))
    parts: list[Markup] = []
    for value in svg.ticks(low - margin, high + margin):
        parts += [svg.line(_LEFT, y(value), width - _RIGHT, y(value), class_="grid")]
        parts += [svg.text(_LEFT - 8, y(value) + 4, f"{value:g}", class_="tick", anchor="end")]
    for value in _powers(smallest, largest):
        x = along(math.log(value))
        parts += [svg.line(x, _TOP, x, height - _BOTTOM, class_="grid")]
        parts += [svg.text(x, height - _BOTTOM + 18, f"{value:,g}", class_="tick", anchor="middle")]
    caption = "mean chunk size (nws)" if narrow else f"mean non-whitespace characters of a chunk; upwards {measure}"
    parts += [svg.text((_LEFT + width - _RIGHT) / 2, height - 8, caption, class_="tick", anchor="middle")]
    for point in reversed(points):
        x = along(math.log(point.size))
        parts += [svg.line(x, y(point.low), x, y(point.high), class_=f"whisker {svg.colour(point.place)}")]
        parts += [svg.tag("g", svg.tag("title", point.name), svg.badge(x, y(point.mean), point.place))]
        if not narrow and len(points) <= svg.COLOURS:
            right = x < width * 0.7
            side = x + 14 if right else x - 14
            parts += [svg.text(side, y(point.mean) + 4, point.name, class_="halo", anchor="start" if right else "end")]
    return svg.figure(width, height, f"{measure} against mean chunk size", *parts)


def _powers(low: float, high: float) -> list[float]:
    """Return 1, 2, 3, 5 and 7 times powers of ten inside the range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [m * 10.0**decade for decade in decades for m in (1, 2, 3, 5, 7)]
    return [value for value in found if low <= value <= high]
