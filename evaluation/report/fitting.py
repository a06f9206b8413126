"""Tables of a terminal that fit its width: columns are chosen, words stay whole, and what is left out is said."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Item = TypeVar("Item")


def new_table(title: str) -> Table:
    """Return a table in the style of all tables, without columns."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.collapse_padding = True
    table.add_column("chunker", no_wrap=True)
    return table


def name_lines(chunker: str, most: int) -> Text:
    """Return a chunker's name; one that is too long goes on below, after a colon or comma and never inside a word."""
    from rich.text import Text

    lines = [""]
    # A word that is longer than any line has to be cut: it must not be lost.
    longest = 2 * most - 2
    words = [part[k : k + longest] for part in _parts(chunker) for k in range(0, len(part), longest)]
    for part in words:
        if lines[-1] and len(lines[-1]) + len(part) > most:
            lines.append("  ")
        lines[-1] += part
    return Text("\n".join(lines))


def _parts(chunker: str) -> list[str]:
    parts, start = [], 0
    for place, character in enumerate(chunker):
        if character in ":,+ ":
            parts.append(chunker[start : place + 1])
            start = place + 1
    return [*parts, chunker[start:]]


def width_of(table: Table) -> int:
    """Return how wide a table would like to be."""
    from rich.console import Console

    endless = Console(width=100_000, file=io.StringIO())
    return endless.measure(table).maximum


def that_fit(items: Sequence[str], make: Callable[[Sequence[str]], Table], width: int) -> list[str]:
    """Return the first items with which a table still fits."""
    kept = list(items)
    while kept and width_of(make(kept)) > width:
        kept.pop()
    return kept


def in_pieces(items: Sequence[Item], make: Callable[[Sequence[Item]], Table], width: int) -> list[Table]:
    """Return as many tables as it takes for each to fit; a single item has a table whether it fits or not."""
    tables: list[Table] = []
    piece: list[Item] = []
    for item in items:
        if piece and width_of(make([*piece, item])) > width:
            tables.append(make(piece))
            piece = []
        piece.append(item)
    return [*tables, *([make(piece)] if piece else [])]
