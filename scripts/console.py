"""Standard output and standard error for tables."""

from __future__ import annotations

import os
import sys

from rich.console import Console


def error_console(width: int) -> Console:
    """Return standard error, as wide as `console` would be."""
    chosen = sys.stderr.isatty() or "COLUMNS" in os.environ
    return Console(stderr=True, width=None if chosen else width)


def console(width: int) -> Console:
    """Return an output as wide as the terminal, as COLUMNS says, or else of this width: no folding at 80 in a pipe."""
    chosen = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if chosen else width)
