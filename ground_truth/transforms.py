"""Changes that a dataset makes to a file as it is read, before it is cut."""

from __future__ import annotations

import dataclasses

from chunkers.types import SourceFile


def crlf(source: SourceFile) -> SourceFile:
    """Return the file with CR LF at the end of every line."""
    return dataclasses.replace(source, data=source.data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
