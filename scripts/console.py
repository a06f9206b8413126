"""Standard output and standard error for tables, on which untrusted text cannot control the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

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
    chosen = sys.stderr.isatty() or "COLUMNS" in os.environ
    return PlainConsole(stderr=True, width=None if chosen else width)


def console(width: int) -> PlainConsole:
    """Return an output as wide as the terminal, or COLUMNS, or else this width: no folding at 80 in a pipe."""
    chosen = sys.stdout.isatty() or "COLUMNS" in os.environ
    return PlainConsole(width=None if chosen else width)
