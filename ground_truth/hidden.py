"""Hidden text: text that queries were made from, kept out of the index.

Files are cut as they are. Hidden bytes are removed from what is indexed, read and judged, so that the same chunks serve
runs that hide text and runs that do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from chunkers.sources import Repository
from ground_truth.lines import FileLines
from ground_truth.miners.comments import hidden_comments
from ground_truth.miners.definitions import hidden_docstrings
from ground_truth.types import HiddenSpan

_NONE = np.zeros((0, 2), dtype=np.int64)
_BLANK = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
"""Every byte as a space, except line ends."""


class HiddenText:
    """The hidden bytes of each file, as sorted half-open ranges without overlaps."""

    def __init__(self, spans: Iterable[HiddenSpan]) -> None:
        by_file: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for repo, path, start, end in sorted(spans):
            ranges = by_file.setdefault((repo, path), [])
            if ranges and start <= ranges[-1][1]:
                ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
            elif start < end:
                ranges.append((start, end))
        self._ranges = {file: np.array(ranges, dtype=np.int64) for file, ranges in by_file.items()}

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def ranges(self, repo: str, path: str) -> np.ndarray:
        """Return the hidden bytes of a file: rows of start and end."""
        return self._ranges.get((repo, path), _NONE)

    def within(self, repo: str, path: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return the hidden bytes between two offsets of a file, as ranges of its offsets."""
        inside = [(max(low, start), min(high, end)) for low, high in self.ranges(repo, path).tolist()]
        return [(low, high) for low, high in inside if low < high]


def visible_text(data: bytes, ranges: np.ndarray, start: int, end: int) -> bytes:
    """Return the bytes from start to end without the hidden ones."""
    if not len(ranges):
        return data[start:end]
    first = int(np.searchsorted(ranges[:, 1], start, side="right"))
    parts, at = [], start
    for low, high in ranges[first:].tolist():
        if low >= end:
            break
        parts.append(data[at : max(at, low)])
        at = min(max(at, high), end)
    return b"".join([*parts, data[at:end]])


def blanked(data: bytes, ranges: np.ndarray) -> bytes:
    """Return the file with its hidden bytes as spaces: same length, same lines."""
    if not len(ranges):
        return data
    made = bytearray(data)
    for start, end in ranges.tolist():
        made[start:end] = made[start:end].translate(_BLANK)
    return bytes(made)


def inside(ranges: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return, for each offset, whether it is hidden."""
    if not len(ranges):
        return np.zeros(len(offsets), dtype=bool)
    place = np.searchsorted(ranges[:, 0], offsets, side="right") - 1
    found: np.ndarray = (place >= 0) & (offsets < ranges[np.maximum(place, 0), 1])
    return found


def documentation(repositories: Iterable[Repository], *, comments: bool = False) -> tuple[HiddenSpan, ...]:
    """Return every docstring and doc comment of the repositories, and optionally the comments that describe code."""
    return tuple(
        span
        for repository in repositories
        for source in repository.files()
        for span in (*hidden_docstrings(source), *(hidden_comments(source) if comments else ()))
    )


def hidden_lines(repository: Repository, lines: Mapping[str, Sequence[int]]) -> tuple[HiddenSpan, ...]:
    """Return some lines of some files, path → 1-based numbers, as hidden bytes; lines past a file's end are ignored."""
    spans = []
    for path, numbers in sorted(lines.items()):
        source = repository.read(path)
        layout = FileLines.of(source.data if source else b"")
        spans += [
            HiddenSpan(repository.name, path, *layout.to_bytes(number, number))
            for number in numbers
            if number <= layout.count
        ]
    return tuple(spans)
