"""Safe standard output and error for commands: open, with control characters escaped, and never a cause of failure."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from chunkers.plain_text import shown

_COLOUR = re.compile(r"(\x1b\[[0-9;]{0,20}m)")
"""The escape sequences allowed in our own output."""


class PlainStream:
    """A text stream that escapes control characters and is otherwise the original stream."""

    def __init__(self, stream: TextIO, *, may_fail: bool) -> None:
        self._stream = stream
        self._may_fail = may_fail

    def write(self, text: str) -> int:
        """Write the text, made safe; if the stream may fail, writes to a closed or full one are dropped."""
        parts = _COLOUR.split(text)
        safe = "".join(part if at % 2 else shown(part) for at, part in enumerate(parts))
        with contextlib.suppress(*([OSError, ValueError] if self._may_fail else [])):
            self._stream.write(safe)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        with contextlib.suppress(*([OSError, ValueError] if self._may_fail else [])):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)


def inner(stream: TextIO) -> TextIO:
    """Return the stream itself, for a writer whose texts are already safe and whose control codes are its own."""
    return stream._stream if isinstance(stream, PlainStream) else stream  # noqa: SLF001 - of this module


@contextlib.contextmanager
def plain_streams() -> Iterator[None]:
    """Let stderr, and stdout if it is a terminal, show only text while the block runs.

    Standard output to a file or a pipe is data and stays as it is. A message that cannot be shown is no reason to fail:
    stderr may be closed, full, or a pipe without a reader.
    """
    fill_descriptors()
    before = sys.stdout, sys.stderr
    if sys.stderr is None:
        sys.stderr = cast("TextIO", open(os.devnull, "w"))  # noqa: SIM115, PTH123 - for the rest of the process
    sys.stderr = cast("TextIO", PlainStream(sys.stderr, may_fail=True))
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = cast("TextIO", PlainStream(sys.stdout, may_fail=False))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def let_go(stream: TextIO) -> OSError | None:
    """Flush a stream, and discard what it cannot write: Python would try again at exit, and exit with 120."""
    try:
        stream.flush()
    except ValueError:  # it is closed
        return None
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return error
    return None


def fill_descriptors() -> None:
    """Open any closed standard descriptor: otherwise the next file would get its number, and its messages."""
    with contextlib.suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(opened)
