"""Quality against cost: the Pareto front of the chunkers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.labels import Label, beside
from evaluation.report.figures.plane import Point, apart, plane, whisker, whisker_box


def frontier(points: Sequence[Point], *, lower_is_better: bool = False) -> list[Point]:
    """Return the Pareto front, from cheap to expensive: the points with a better mean than every cheaper one."""
    sign = 1.0 if lower_is_better else -1.0
    found: list[Point] = []
    for point in sorted(points, key=lambda point: (point.x, sign * point.mean, point.mark.number)):
        if not found or sign * point.mean < sign * found[-1].mean:
            found.append(point)
    return found


def cost_figure(
    points: Sequence[Point], *, cost: str, measure: str, lower_is_better: bool = False, narrow: bool = False
) -> Markup:
    """Draw the points with their intervals, and steps through those on the front."""
    on = plane(points, across=cost if narrow else f"{cost}; upwards {measure}", narrow=narrow)
    front = frontier(points, lower_is_better=lower_is_better)
    steps: list[tuple[float, float]] = []
    for point in front:
        if steps:
            steps.append((on.x(point.x), steps[-1][1]))
        steps.append((on.x(point.x), on.y(point.mean)))
    steps.append((on.inside[2] - 16, steps[-1][1]))
    parts = [*on.axes, svg.path(steps, class_="front")]
    parts += [whisker(point, on) for point in reversed(points)]
    spots = dict(zip(points, apart([(on.x(p.x), on.y(p.mean)) for p in points]), strict=True))
    parts += [svg.dot(*spots[p], p.mark, title=p.name) for p in reversed(points)]
    named = sorted(points, key=lambda point: point not in front)
    labels = [
        Label(*spots[p], (str(p.mark.number),) if narrow else (f"{p.mark.number} {p.name}", str(p.mark.number)))
        for p in named
    ]
    lines = [whisker_box(point, on) for point in points]
    lines += [(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]) + 1, max(a[1], b[1]) + 1) for a, b in pairwise(steps)]
    parts += beside(labels, inside=on.inside, lines=lines)
    return svg.figure(
        on.width, on.height, f"{measure} against {cost}, with the front of those that nothing beats", *parts
    )
