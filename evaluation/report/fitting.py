"""Text and tables that fit the width of a terminal: columns are selected, and words are never split."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from chunkers.plain_text import shown
from evaluation.report.formats import unbroken

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

Item = TypeVar("Item")


class Prose:
    """A paragraph whose lines break between words, and never between a number and its unit."""

    def __init__(self, words: str, *, hang: int = 0, strong: str = "", style: str = "") -> None:
        """``hang`` is the indent of every line but the first, ``strong`` the style of the bold beginning."""
        self._words, self._hang, self._strong, self._style = shown(words), hang, len(shown(strong)), style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the lines as one text."""
        from rich.text import Text

        text = Text(wrapped(self._words, options.max_width, hang=self._hang), style=self._style)
        text.stylize("bold", 0, self._strong)
        yield text


def wrapped(words: str, width: int, *, hang: int = 0) -> str:
    """Return the words in lines of at most this width, unless a word is longer."""
    lines = textwrap.wrap(
        unbroken(words), width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


class Trimmed:
    """Any renderable, without trailing spaces."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType | Segment]:
        """Yield the lines, each cut after its last visible character."""
        from rich.segment import Segment

        for line in console.render_lines(self._inner, options, pad=False):
            while line and not line[-1].text.rstrip():
                line.pop()
            yield from line[:-1]
            yield from [Segment(line[-1].text.rstrip(), line[-1].style)] if line else []
            yield Segment.line()


def new_table(title: str) -> Table:
    """Return an empty table in the style shared by all tables."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.collapse_padding = True
    table.add_column("chunker", no_wrap=True)
    return table


def name_lines(chunker: str, most: int) -> Text:
    """Return a chunker's name in lines, broken after a colon or comma and never inside a word."""
    from rich.text import Text

    lines = [""]
    # A word longer than a line has to be cut: no text may be lost.
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


def to_the_right(heading: str, cells: Sequence[Text]) -> str:
    """Pad the cells and return the heading, so that their ends align, spaces included."""
    lines = heading.split("\n")
    width = max(len(each) for each in (*lines, *(cell.plain for cell in cells)))
    for cell in cells:
        cell.pad_left(width - len(cell.plain))
    return "\n".join(line.rjust(width) for line in lines)


def width_of(table: Table) -> int:
    """Return the preferred width of a table."""
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
    """Return as many tables as needed for each to fit; a single item always gets a table."""
    tables: list[Table] = []
    piece: list[Item] = []
    for item in items:
        if piece and width_of(make([*piece, item])) > width:
            tables.append(make(piece))
            piece = []
        piece.append(item)
    return [*tables, *([make(piece)] if piece else [])]
