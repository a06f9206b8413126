"""Stores the text behind many overlapping results once per line of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any


@dataclass
class _File:
    """Lines of one file that some result shows."""

    path: str
    lines: list[str | None] = field(default_factory=list)
    """By line number; index 0 is never used."""
    ends: set[int] = field(default_factory=set)
    """Lines seen only at the end of a slice, which may be incomplete."""


@dataclass
class LineStore:
    """Files by (scope, path); a text that contradicts a known file becomes a file of its own."""

    files: list[_File] = field(default_factory=list)
    known: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, scope: str, path: str, start_line: int, pieces: list[str]) -> int:
        """Add a slice, given as its lines, and return the number of its file."""
        variants = self.known.setdefault((scope, path), [])
        stop = start_line + len(pieces)
        for number in variants:
            # Most slices repeat known lines.
            if self.files[number].lines[start_line:stop] == pieces:
                return number
        for number in variants:
            if _agrees(self.files[number], start_line, pieces):
                break
        else:
            number = len(self.files)
            self.files.append(_File(path))
            variants.append(number)
        _learn(self.files[number], start_line, pieces)
        return number

    def packed(self) -> list[dict[str, Any]]:
        """Return each file as its path and runs of consecutive lines."""
        return [{"path": file.path, "runs": _runs(file.lines)} for file in self.files]

    def cuts(self, number: int, start_line: int, pieces: list[str]) -> tuple[str | None, str | None]:
        """Return the first and the last line if the slice begins or ends inside one, else None."""
        lines = self.files[number].lines
        last = start_line + len(pieces) - 1
        first_cut = pieces[0] if pieces[0] != lines[start_line] else None
        last_cut = pieces[-1] if len(pieces) > 1 and pieces[-1] != lines[last] else None
        return first_cut, last_cut


def text_lines(text: str) -> list[str]:
    r"""Return the lines of a slice, split at \n only; a final newline ends its line and starts no new one."""
    return text.removesuffix("\n").split("\n")


def _agrees(file: _File, start_line: int, pieces: list[str]) -> bool:
    """Return whether a slice fits this file: lines are equal, or one is part of the other where a slice ends."""
    known_lines = file.lines[start_line : start_line + len(pieces)]
    for k, (known, piece) in enumerate(zip(known_lines, pieces, strict=False)):
        if known is None or known == piece:
            continue
        part = k in (0, len(pieces) - 1) and piece in known
        whole = start_line + k in file.ends and known in piece
        if not part and not whole:
            return False
    return True


def _learn(file: _File, start_line: int, pieces: list[str]) -> None:
    missing = start_line + len(pieces) - len(file.lines)
    file.lines.extend([None] * missing)
    for k, piece in enumerate(pieces):
        line, known = start_line + k, file.lines[start_line + k]
        if 0 < k < len(pieces) - 1:
            file.lines[line] = piece
            file.ends.discard(line)
        elif known is None or (line in file.ends and len(piece) > len(known)):
            file.lines[line] = piece
            file.ends.add(line)


def _runs(lines: list[str | None]) -> list[list[int | str]]:
    held = [(number, line) for number, line in enumerate(lines) if line is not None]
    runs: list[list[int | str]] = []
    for _, group in groupby(enumerate(held), key=lambda pair: pair[1][0] - pair[0]):
        members = [line for _, line in group]
        runs.append([members[0][0], "\n".join(text for _, text in members)])
    return runs
