"""Standard output and standard error for tables, on which untrusted text cannot control the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from chunkers.plain_text import shown
from scripts.streams import inner

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType


class PlainConsole(Console):
    """A console that prints text literally: no markup, no emoji names, and control characters escaped."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever rich takes
        stream = inner(sys.stderr if options.get("stderr") else sys.stdout)
        super().__init__(markup=False, emoji=False, highlight=False, file=stream, **options)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - whatever rich takes
        """Return a text, made safe before its width is measured."""
        return super().render_str(shown(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments; text, as opposed to rich's own control codes, is made safe."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)


def error_console(width: int) -> PlainConsole:
    """Return standard error, as wide as `console` would be."""
    return PlainConsole(stderr=True, width=_width(sys.stderr, width))


def console(width: int) -> PlainConsole:
    """Return an output as wide as the terminal, or COLUMNS, or else this width: no folding at 80 in a pipe."""
    return PlainConsole(width=_width(sys.stdout, width))


def _width(stream: TextIO, width: int) -> int | None:
    """Return this width, or None to use the terminal's or COLUMNS; programs without one set 0 columns."""
    columns = os.environ.get("COLUMNS")
    if columns and not columns.strip("0"):
        return width
    return None if stream.isatty() or columns is not None else width
