"""The recommended chunker to paste: its spec, a snippet of Python, and a library's call where it has the same one."""

from __future__ import annotations

from typing import NamedTuple


class Snippet(NamedTuple):
    """Some code to paste."""

    title: str
    code: str
    note: str = ""


def snippets(spec: str) -> list[Snippet]:
    """Return what can be pasted for a chunker."""
    return [
        Snippet("command line", f"chunkbench chunk PATH --chunker {spec}"),
        Snippet("Python", f'import chunkbench as cb\n\nchunks = cb.chunk("PATH", {spec!r})'),
    ]
