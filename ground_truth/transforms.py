"""What a dataset does to a file as it is read; values, so that repositories travel between processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chunkers.types import SourceFile
from ground_truth.lines import FileLines
from ground_truth.masking import mask_spans

Transform = Callable[[SourceFile], SourceFile]


@dataclass(frozen=True)
class Steps:
    """Several transformations, one after the other."""

    steps: tuple[Transform, ...]

    def __call__(self, source: SourceFile) -> SourceFile:
        """Return the file after all steps."""
        for step in self.steps:
            source = step(source)
        return source


@dataclass(frozen=True)
class MaskedLines:
    """Blanks some lines of some files."""

    lines: tuple[tuple[str, tuple[int, ...]], ...]
    """Path and its lines, from 1."""

    @classmethod
    def of(cls, lines: Mapping[str, Sequence[int]]) -> MaskedLines:
        """Return the transformation for path → lines."""
        return cls(tuple((path, tuple(numbers)) for path, numbers in sorted(lines.items())))

    def __call__(self, source: SourceFile) -> SourceFile:
        """Return the file with its lines blanked; line ends stay."""
        numbers = dict(self.lines).get(source.path, ())
        layout = FileLines.of(source.data)
        return mask_spans(source, (layout.to_bytes(number, number) for number in numbers if number <= layout.count))


def crlf(source: SourceFile) -> SourceFile:
    """Return the file with CR LF at the end of every line."""
    return dataclasses.replace(source, data=source.data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
