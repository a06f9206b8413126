"""Unified diffs read for their old side: the lines of the file before the change that a patch touches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chunkers.errors import UsageError
from ground_truth.lines import LineRange

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_OCTAL = re.compile(r"\\([0-7]{3})")


class OldLine(NamedTuple):
    """A line that the patch expects in the old file, without its line end."""

    number: int
    text: str


@dataclass
class Hunk:
    """One hunk, seen from the old file."""

    changed: list[LineRange] = field(default_factory=list)
    """Old lines removed or replaced; for a pure insertion its two neighbours."""
    old_lines: list[OldLine] = field(default_factory=list)
    """Every removed or context line."""

    def moved(self, offset: int) -> Hunk:
        """Return the hunk shifted by some lines."""
        return Hunk(
            [LineRange(first + offset, last + offset) for first, last in self.changed],
            [OldLine(number + offset, text) for number, text in self.old_lines],
        )


@dataclass
class FilePatch:
    """The changes of a patch to one file."""

    old_path: str | None
    """None if the patch creates the file."""
    new_path: str | None
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def changed(self) -> list[LineRange]:
        """The changed lines of all hunks."""
        return [lines for hunk in self.hunks for lines in hunk.changed]

    @property
    def old_lines(self) -> list[OldLine]:
        """The removed and context lines of all hunks."""
        return [line for hunk in self.hunks for line in hunk.old_lines]


def parse_patch(text: str, *, where: str) -> list[FilePatch]:
    """Return the files of a unified diff; raise UsageError, naming ``where`` and the row, if it is cut or broken."""
    found: list[FilePatch] = []
    lines = text.split("\n")
    row = 0
    while row < len(lines):
        line = lines[row]
        if line.startswith("--- ") and row + 1 < len(lines) and lines[row + 1].startswith("+++ "):
            found.append(FilePatch(_path(line[4:]), _path(lines[row + 1][4:])))
            row += 2
        elif match := _HUNK.match(line):
            if not found:
                raise UsageError(f"{where}: patch row {row + 1}: a hunk before any file name: give the whole diff")
            row = _read_hunk(found[-1], match, lines, row + 1, where)
        else:
            row += 1
    return found


def fit(patch: FilePatch, data: bytes) -> FilePatch | None:
    """Return the patch with each hunk where its old lines are in the file, or None if one is nowhere.

    Some published patches were made against a neighbour of their base commit; like ``patch`` and ``git apply``, this
    takes the place nearest to the one in the hunk.
    """
    lines = [line.decode("utf-8", "replace").rstrip("\r") for line in data.split(b"\n")]
    placed = [_place(hunk, lines) for hunk in patch.hunks]
    found = [hunk for hunk in placed if hunk is not None]
    return FilePatch(patch.old_path, patch.new_path, found) if len(found) == len(placed) else None


def _place(hunk: Hunk, lines: Sequence[str]) -> Hunk | None:
    if not hunk.old_lines:
        return hunk
    wanted = [text for _, text in hunk.old_lines]
    start = hunk.old_lines[0].number - 1
    fitting = [
        place
        for place in range(len(lines) - len(wanted) + 1)
        if lines[place] == wanted[0] and list(lines[place : place + len(wanted)]) == wanted
    ]
    if not fitting:
        return None
    nearest = min(fitting, key=lambda place: (abs(place - start), place))
    return hunk.moved(nearest - start) if nearest != start else hunk


def _read_hunk(file: FilePatch, match: re.Match[str], lines: Sequence[str], row: int, where: str) -> int:
    """Add one hunk to the patch and return the row after it."""
    hunk = Hunk()
    file.hunks.append(hunk)
    old, old_left = int(match[1]), int(match[2] or 1)
    new_left = int(match[4] or 1)
    # For an empty old side git gives the line before the insertion, otherwise the hunk's first line.
    number = old if old_left else old + 1
    removed: list[int] = []
    inserts = False
    while old_left > 0 or new_left > 0 or (row < len(lines) and lines[row].startswith("\\")):
        if row >= len(lines):
            raise UsageError(f"{where}: the patch ends in the middle of a hunk: it is truncated")
        kind, text = lines[row][:1], lines[row][1:]
        row += 1
        if kind == "\\":
            continue
        if kind == "+":
            inserts = True
            new_left -= 1
            continue
        if kind not in ("-", " ", ""):
            raise UsageError(
                f"{where}: patch row {row}: {lines[row - 1][:40]!r} is no line of a hunk: the patch is broken"
            )
        if kind == "-":
            removed.append(number)
        else:
            _close(hunk, removed, inserts=inserts, following=number)
            removed, inserts = [], False
            new_left -= 1
        hunk.old_lines.append(OldLine(number, text.rstrip("\r")))
        number += 1
        old_left -= 1
    _close(hunk, removed, inserts=inserts, following=None, before=number - 1)
    return row


def _close(hunk: Hunk, removed: list[int], *, inserts: bool, following: int | None, before: int | None = None) -> None:
    """Record the block of changes that ends here."""
    if removed:
        hunk.changed.append(LineRange(removed[0], removed[-1]))
    elif inserts:
        above = following - 1 if following is not None else (before or 0)
        below = following if following is not None else above
        if below >= 1:
            hunk.changed.append(LineRange(max(1, above), below))


def _path(text: str) -> str | None:
    """Return the path of a --- or +++ row without its a/ or b/, or None for /dev/null."""
    name = text.rstrip("\r").split("\t")[0]
    if name.startswith('"') and name.endswith('"'):
        raw = _OCTAL.sub(lambda m: chr(int(m[1], 8)), name[1:-1].replace('\\"', '"').replace("\\\\", "\\"))
        name = raw.encode("latin-1", "replace").decode("utf-8", "replace")
    if name == "/dev/null":
        return None
    return name[2:] if name[:2] in ("a/", "b/") else name


def merged(ranges: Sequence[LineRange]) -> Iterator[LineRange]:
    """Yield ranges in order, with overlapping and adjacent ones joined."""
    current: LineRange | None = None
    for one in sorted(ranges):
        if current is not None and one.first <= current.last + 1:
            current = LineRange(current.first, max(current.last, one.last))
        else:
            if current is not None:
                yield current
            current = one
    if current is not None:
        yield current
