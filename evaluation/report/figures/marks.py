"""One chunker, one mark: a number, a colour, a shape and a dash that it keeps in every table and figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

COLOURS, SHAPES = 6, 5
"""Every colour differs from the others for any kind of colour blindness; with the shapes that is 30 marks."""


class Mark(NamedTuple):
    """How one chunker is drawn."""

    number: int
    """Its place in the experiment, from 1; it tells marks apart where there are more than 30."""
    colour: int
    shape: int
    """Of the mark, and of the dashes of its line."""

    @property
    def colour_class(self) -> str:
        """The class that gives the colour."""
        return f"s{self.colour}"

    @property
    def line_class(self) -> str:
        """The classes of its line."""
        return f"{self.colour_class} dash{self.shape}"


def family(chunker: str) -> str:
    """Return what a chunker is called without its parameters."""
    return chunker.partition(":")[0]


def marks(chunkers: Iterable[str]) -> dict[str, Mark]:
    """Return chunker → mark; a family shares a colour as far as the shapes reach, and no two of 30 are drawn alike."""
    found: dict[str, Mark] = {}
    used: Counter[int] = Counter()
    first: dict[str, int] = {}
    for number, chunker in enumerate(dict.fromkeys(chunkers), start=1):
        least = min(range(COLOURS), key=lambda colour: (used[colour], colour))
        colour = first.setdefault(family(chunker), least)
        if used[colour] >= SHAPES and used[least] < used[colour]:
            colour = least
        found[chunker] = Mark(number, colour, (colour + used[colour]) % SHAPES)
        used[colour] += 1
    return found
