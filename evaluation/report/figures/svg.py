"""The few SVG elements that the figures are made of; every text and attribute is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from evaluation.report.figures.marks import Mark

WIDE, NARROW = 820.0, 340.0
"""Widths of the two drawings of each figure; the style shows the one that fits the screen."""
CHARACTER, BOLD, TICK = 7.5, 8.4, 6.9
"""Mean widths of a character of names, by class of text, in the widest of the usual fonts (DejaVu Sans)."""


def tag(name: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """Return an element; ``class_`` is class, ``stroke_width`` is stroke-width, None omits an attribute."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _plain(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{}{}>{}</{}>").format(name, written, Markup("").join(escape(child) for child in children), name)


def figure(width: float, height: float, label: str, *children: Markup) -> Markup:
    """Return the drawing with its name for screen readers."""
    box = f"0 0 {width:g} {height:g}"
    return tag("svg", *children, viewBox=box, role="img", aria_label=label, class_="figure", width=width, height=height)


def text(x: float, y: float, words: str, *, class_: str = "label", anchor: str = "start") -> Markup:
    """Return text whose baseline starts, centres or ends at a point."""
    return tag("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, *, class_: str) -> Markup:
    """Return a straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Sequence[tuple[float, float]], *, class_: str, closed: bool = False) -> Markup:
    """Return a line through points."""
    moves = " ".join(f"{'M' if k == 0 else 'L'}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(points))
    return tag("path", d=moves + (" Z" if closed else ""), class_=class_)


def shape(x: float, y: float, mark: Mark, *, radius: float = 8.5) -> Markup:
    """Return the outline of a mark: disc, square, diamond, triangle or hexagon, all of about the same area."""
    if mark.shape == 0:
        return tag("circle", cx=x, cy=y, r=radius)
    sides, turn, size, drop = _OUTLINES[mark.shape]
    corners = [(turn + 2 * math.pi * k / sides, radius * size) for k in range(sides)]
    points = [(x + far * math.sin(angle), y + drop * radius - far * math.cos(angle)) for angle, far in corners]
    return path(points, class_="outline", closed=True)


_OUTLINES = {1: (4, math.pi / 4, 1.25, 0.0), 2: (4, 0.0, 1.3, 0.0), 3: (3, 0.0, 1.45, 0.2), 4: (6, 0.0, 1.12, 0.0)}
"""Shape → corners, angle of the first one, radius, and how far the centre is lowered."""


def badge(x: float, y: float, mark: Mark, *, hollow: bool = False) -> Markup:
    """Return a numbered mark."""
    kind = f"badge {mark.colour_class}" + (" hollow" if hollow else "")
    number = tag("text", str(mark.number), x=x, y=y + 3.6, text_anchor="middle")
    return tag("g", shape(x, y, mark), number, class_=kind)


def dot(x: float, y: float, mark: Mark, *, radius: float = 5.5, title: str = "") -> Markup:
    """Return a mark without its number, with a tooltip."""
    words = [tag("title", title)] if title else []
    return tag("g", *words, shape(x, y, mark, radius=radius), class_=f"badge {mark.colour_class}")


def icon(mark: Mark) -> Markup:
    """Return the mark as an inline icon for a line or table."""
    drawn = badge(12.0, 12.0, mark)
    return tag("svg", drawn, viewBox="0 0 24 24", width=20, height=20, class_="icon", aria_hidden="true")


def linear(domain: tuple[float, float], pixels: tuple[float, float]) -> Callable[[float], float]:
    """Return the map from values to pixels."""
    low, high = domain
    width = (high - low) or 1.0
    return lambda value: pixels[0] + (value - low) / width * (pixels[1] - pixels[0])


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers inside a range."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near the desired ones with at least a gap between them, inside low … high if they fit."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    placed = [0.0] * len(wanted)
    floor = low
    for k in order:
        placed[k] = max(wanted[k], floor)
        floor = placed[k] + gap
    ceiling = high
    for k in reversed(order):
        placed[k] = min(placed[k], ceiling)
        ceiling = placed[k] - gap
    return placed


def short(words: str, room: float, *, character: float = CHARACTER) -> str:
    """Return the text, or as much of its beginning as fits the room, and an ellipsis."""
    most = int(room / character)
    return words if len(words) <= most else words[: most - 1] + "…"


def signed(value: float) -> str:
    """Return a tick label of an axis with two sides."""
    return "0" if value == 0 else f"{value:+g}".replace("-", "\N{MINUS SIGN}")


def _plain(value: str | float | None) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
