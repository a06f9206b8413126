"""One mark per chunker: a number, a colour, a shape and a dash that it keeps in every table and figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

COLOURS, SHAPES = 6, 5
"""All colours can be told apart with any kind of colour blindness; with the shapes that makes 30 marks."""


class Mark(NamedTuple):
    """How one chunker is drawn."""

    number: int
    """Its position in the experiment, from 1; it distinguishes marks if there are more than 30."""
    colour: int
    shape: int
    """Index of the mark's shape, and of the dash of its line."""

    @property
    def colour_class(self) -> str:
        """The CSS class of the colour."""
        return f"s{self.colour}"

    @property
    def line_class(self) -> str:
        """The CSS classes of its line."""
        return f"{self.colour_class} dash{self.shape}"


def family(chunker: str) -> str:
    """Return a chunker's name without parameters."""
    return chunker.partition(":")[0]


def marks(chunkers: Iterable[str]) -> dict[str, Mark]:
    """Return chunker → mark; a family shares a colour while shapes last, and the first 30 all differ."""
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
