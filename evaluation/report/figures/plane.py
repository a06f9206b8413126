"""Points with intervals on a plane with a logarithmic horizontal axis, shared by size and cost figures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.marks import Mark

_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 20.0, 16.0, 46.0


class Point(NamedTuple):
    """One chunker: its position on the horizontal axis, and its score with the interval, as shown."""

    mark: Mark
    name: str
    x: float
    mean: float
    low: float
    high: float


class Plane(NamedTuple):
    """The drawing's size, its axes, and the two scales."""

    width: float
    height: float
    inside: tuple[float, float, float, float]
    """Left, top, right and bottom of the plotting area."""
    axes: list[Markup]
    x: Callable[[float], float]
    y: Callable[[float], float]


def plane(points: Sequence[Point], *, across: str, narrow: bool) -> Plane:
    """Return the axes for the points, with ``across`` as the label of the horizontal one."""
    width, height = (svg.NARROW, 320.0) if narrow else (svg.WIDE, 400.0)
    smallest = min(point.x for point in points) / 1.3
    largest = max(point.x for point in points) * 1.3
    along = svg.linear((math.log(smallest), math.log(largest)), (_LEFT, width - _RIGHT))
    low, high = min(point.low for point in points), max(point.high for point in points)
    margin = (high - low) * 0.08 or 1.0
    y = svg.linear((low - margin, high + margin), (height - _BOTTOM, _TOP))
    axes: list[Markup] = []
    for value in svg.ticks(low - margin, high + margin):
        axes += [svg.line(_LEFT, y(value), width - _RIGHT, y(value), class_="grid")]
        axes += [svg.text(_LEFT - 8, y(value) + 4, f"{value:g}", class_="tick", anchor="end")]
    for value in _powers(smallest, largest, most=5 if narrow else 10):
        x = along(math.log(value))
        axes += [svg.line(x, _TOP, x, height - _BOTTOM, class_="grid")]
        axes += [svg.text(x, height - _BOTTOM + 18, _axis_number(value), class_="tick", anchor="middle")]
    axes += [svg.text((_LEFT + width - _RIGHT) / 2, height - 8, across, class_="tick", anchor="middle")]
    inside = (_LEFT, _TOP, width - 4, height - _BOTTOM)
    return Plane(width, height, inside, axes, lambda value: along(math.log(value)), y)


def whisker(point: Point, on: Plane) -> Markup:
    """Return the interval of a point."""
    x = on.x(point.x)
    return svg.line(x, on.y(point.low), x, on.y(point.high), class_=f"whisker {point.mark.colour_class}")


def whisker_box(point: Point, on: Plane) -> tuple[float, float, float, float]:
    """Return the bounding box of what `whisker` draws."""
    x = on.x(point.x)
    return x - 1.2, on.y(point.high), x + 1.2, on.y(point.low)


def apart(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return where marks are drawn: marks that would cover each other are placed side by side, at their own heights.

    Whiskers and lines stay at the values.
    """
    groups = [[k] for k in sorted(range(len(spots)), key=lambda k: spots[k])]
    found = list(spots)
    while touching := [(a, b) for a, b in itertools.combinations(groups, 2) if _touch(a, b, found)]:
        one, other = touching[0]
        groups = [group for group in groups if group not in (one, other)]
        groups.append(sorted(one + other, key=lambda k: spots[k]))
        _side_by_side(groups[-1], spots, found)
    return found


def _touch(one: Sequence[int], other: Sequence[int], found: Sequence[tuple[float, float]]) -> bool:
    return any(_covers(found[j], found[k]) for j in one for k in other)


def _side_by_side(group: Sequence[int], spots: Sequence[tuple[float, float]], found: list[tuple[float, float]]) -> None:
    """Place the marks of a group around the middle of their values."""
    wanted = [spots[k][0] for k in group]
    # In a crowd, marks move by at most half a mark each, so that all stay near their values.
    placed = svg.spread(wanted, _MARK if len(group) <= _FEW else _MARK / 2, -math.inf, math.inf)
    shift = (sum(placed) - sum(wanted)) / len(group)
    for k, x in zip(group, placed, strict=True):
        found[k] = (x - shift, spots[k][1])


_MARK, _FEW = 12.0, 4
"""The width of a mark, and how many are placed fully side by side."""


def _covers(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(one[0] - other[0]) < _MARK * 0.75 and abs(one[1] - other[1]) < _MARK * 0.75


def _axis_number(value: float) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value:,g}"


def _powers(low: float, high: float, *, most: int) -> list[float]:
    """Return round numbers inside the range, fewer per decade where there would be too many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9)
    for steps in (fine, (1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [m * 10.0**decade for decade in decades for m in steps]
        inside = [value for value in found if low <= value <= high]
        if len(inside) <= most:
            break
    return inside
