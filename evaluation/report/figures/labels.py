"""Names beside points: each placed where it hides nothing, or omitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from evaluation.report.figures import svg

Edges = tuple[float, float, float, float]
"""Left, top, right and bottom."""
_CHARACTER, _LINE = 6.7, 13.0
"""Width of a character and height of a line in a label."""


class Label(NamedTuple):
    """A point and the texts to set beside it, preferred first; a later, shorter one is used if it fits."""

    x: float
    y: float
    words: tuple[str, ...]


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def hits(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def beside(
    labels: Sequence[Label],
    *,
    inside: Edges,
    radius: float = 8.0,
    lines: Sequence[Edges] = (),
) -> list[Markup]:
    """Place as many labels as fit without touching a point, each other or the edge; earlier ones have priority.

    A place on one of the lines, each given by its box, is used only if there is no other.
    """
    taken = [_Box(one.x - radius, one.y - radius, one.x + radius, one.y + radius) for one in labels]
    drawn = [_Box(*line) for line in lines]
    found = []
    for one in labels:
        free = [
            place
            for place in _places(one, radius)
            if _within(place[0], inside) and not any(place[0].hits(other) for other in taken)
        ]
        clear = [place for place in free if not any(place[0].hits(line) for line in drawn)]
        if free:
            box, anchor, words = (clear or free)[0]
            taken.append(box)
            x = {"start": box.left, "end": box.right, "middle": (box.left + box.right) / 2}[anchor]
            found.append(svg.text(x, box.bottom - 3, words, class_="tick halo", anchor=anchor))
    return found


def _places(one: Label, radius: float) -> Iterator[tuple[_Box, str, str]]:
    for words in one.words:
        wide, gap = _CHARACTER * len(words), radius + 2
        middle = one.y - _LINE / 2
        for left, top, anchor in (
            (one.x + gap, middle, "start"),
            (one.x - gap - wide, middle, "end"),
            (one.x - wide / 2, one.y - gap - _LINE, "middle"),
            (one.x - wide / 2, one.y + gap, "middle"),
            (one.x + gap, one.y - gap - _LINE, "start"),
            (one.x + gap, one.y + gap, "start"),
            (one.x - gap - wide, one.y - gap - _LINE, "end"),
            (one.x - gap - wide, one.y + gap, "end"),
        ):
            yield _Box(left, top, left + wide, top + _LINE), anchor, words


def _within(box: _Box, inside: Edges) -> bool:
    left, top, right, bottom = inside
    return left <= box.left and top <= box.top and box.right <= right and box.bottom <= bottom
