"""Score against mean chunk size, a line per family: is the best chunker simply the one of a certain size?"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.labels import Label, beside
from evaluation.report.figures.marks import family
from evaluation.report.figures.plane import Plane, Point, apart, plane, whisker


def families(points: Sequence[Point], *, measure: str, narrow: bool = False) -> Markup:
    """Draw each family as a line through its sizes with a band; one with a single size is a point."""
    caption = "mean chunk size (nws)" if narrow else f"mean non-whitespace characters of a chunk; upwards {measure}"
    on = plane(points, across=caption, narrow=narrow)
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(family(point.name), []).append(point)
    lines = {name: sorted(held, key=lambda point: point.x) for name, held in groups.items()}
    parts = [*on.axes]
    parts += [_band(held, on) for held in reversed(lines.values()) if len(held) > 1]
    for held in reversed(lines.values()):
        if len(held) > 1:
            path = [(on.x(point.x), on.y(point.mean)) for point in held]
            parts += [svg.path(path, class_=f"line {held[0].mark.line_class}")]
        else:
            parts += [whisker(held[0], on)]
    spots = dict(zip(points, apart([(on.x(p.x), on.y(p.mean)) for p in points]), strict=True))
    parts += [svg.dot(*spots[p], p.mark, title=p.name) for p in reversed(points)]
    last = {point for held in lines.values() for point in held[-1:]}
    named = sorted(points, key=lambda point: point not in last)
    parts += beside([_label(p, spots[p], ends=p in last, narrow=narrow) for p in named], inside=on.inside)
    return svg.figure(on.width, on.height, f"{measure} against mean chunk size, a line per family", *parts)


def _band(held: Sequence[Point], on: Plane) -> Markup:
    upper = [(on.x(point.x), on.y(point.high)) for point in held]
    lower = [(on.x(point.x), on.y(point.low)) for point in held]
    return svg.path([*upper, *reversed(lower)], class_=f"band {held[0].mark.colour_class}", closed=True)


def _label(point: Point, spot: tuple[float, float], *, ends: bool, narrow: bool) -> Label:
    """Return the family's name at the end of its line, and the number of each point."""
    number = str(point.mark.number)
    words = (f"{number} {family(point.name)}", number) if ends and not narrow else (number,)
    return Label(*spot, words)
