"""Text blanked in place: what a query was made from must not be found in the index."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from chunkers.types import SourceFile
from ground_truth.miners.definitions import definitions

# A backslash that joins two lines stays, or a string in single quotes would end in the middle.
_BLANKED = re.compile(rb"[^\r\n\\]|\\(?!\r?\n)")


def mask_docstrings(source: SourceFile) -> SourceFile:
    """Return the file with the docstring of every definition blanked: same length, same lines, still parses.

    All docstrings are blanked, not only those that became queries, so that no chunk has an advantage.
    """
    return mask_spans(source, (span for definition in definitions(source) for span in definition.doc_spans))


def mask_spans(source: SourceFile, spans: Iterable[tuple[int, int]]) -> SourceFile:
    """Return the file with these half-open bytes as spaces; line ends stay."""
    data = bytearray(source.data)
    for start, end in spans:
        data[start:end] = _BLANKED.sub(b" ", bytes(data[start:end]))
    return dataclasses.replace(source, data=bytes(data))


def mask_lines(source: SourceFile, first: int, last: int) -> SourceFile:
    """Return the file with these 1-based inclusive lines blanked."""
    lines = source.data.split(b"\n")
    start = sum(len(line) + 1 for line in lines[: first - 1])
    end = start + sum(len(line) + 1 for line in lines[first - 1 : last])
    return mask_spans(source, [(start, min(end, len(source.data)))])
