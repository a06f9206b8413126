"""The display of `chunkbench chunk`: a file with its boundaries, or a folder's sizes."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from chunkers.coverage import Coverage, coverage, coverage_of, total
from chunkers.cut_errors import FailedFiles
from chunkers.distribution import Distribution, distribution
from chunkers.sizes import ruler
from chunkers.sources import Folder
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, Piece, SizeUnit, SourceFile
from ground_truth.hidden import HiddenText

_COLOURS = ("cyan", "yellow", "green", "magenta")
_BARS = " ▁▂▃▄▅▆▇█"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")


def show_file(
    output: Console,
    source: SourceFile,
    chunkers: Mapping[str, Chunker],
    failed: Mapping[str, FailedFiles],
    *,
    hidden: HiddenText | None = None,
) -> None:
    """Print the file once per chunker, side by side, each chunk in its colour, with hidden text struck out."""
    table = Table.grid(padding=(0, 2), expand=True)
    views: list[RenderableType] = []
    for spec, chunker in chunkers.items():
        table.add_column(ratio=1)
        cut = failed[spec].attempt(_cut, chunker, source)
        failure = Text(f"{printable(source.path)} · {spec} · failed", style="bold red")
        views.append(_chunked(spec, cut, source, hidden) if cut else failure)
    table.add_row(*views)
    output.print(table)


class _Cut(NamedTuple):
    """The output of a chunker itself for a file."""

    chunks: Sequence[Chunk]
    seconds: float
    coverage: Coverage
    fallback: str | None


def _cut(chunker: Chunker, source: SourceFile) -> _Cut:
    begun = time.perf_counter()
    chunks = chunk_file(chunker, source)
    seconds = time.perf_counter() - begun
    pieces = [Piece(chunk.span.start_byte, chunk.span.end_byte) for chunk in chunks]
    return _Cut(chunks, seconds, coverage_of(chunker, source, pieces), fallback_reason(chunker, source))


def _chunked(spec: str, cut: _Cut, source: SourceFile, hidden: HiddenText | None) -> RenderableType:
    chunks, reason = cut.chunks, cut.fallback
    name = printable(source.path)
    title = Text(f"{name} · {spec} · {len(chunks)} {'chunk' if len(chunks) == 1 else 'chunks'}", style="bold")
    title.append(f" · fallback: {reason}" if reason else "", style="red")
    units = ruler(source.data, "nws")
    parts: list[RenderableType] = [title]
    for number, chunk in enumerate(chunks, start=1):
        span, colour = chunk.span, _COLOURS[number % len(_COLOURS)]
        size = units.count(span.start_byte, span.end_byte)
        parts_hidden = _hidden_characters(chunk, hidden)
        place = f"lines {span.start_line}-{span.end_line} · {size} nws{' · hidden text at ┊' if parts_hidden else ''}"
        parts.append(Text(f"━━ {number} · {place}", style=f"bold {colour}"))
        if chunk.header:
            parts.append(Text(printable(chunk.header), style=f"italic dim {colour}"))
        parts.append(_numbered(chunk, colour, parts_hidden))
    return Group(*parts)


def _hidden_characters(chunk: Chunk, hidden: HiddenText | None) -> list[tuple[int, int]]:
    """Return the characters of the chunk's text that are hidden from an index."""
    if hidden is None:
        return []
    span, data = chunk.span, chunk.text.encode("utf-8", "surrogateescape")
    found = hidden.within(chunk.repo, chunk.path, span.start_byte, span.end_byte)
    first, last = (
        [len(data[: ends[side] - span.start_byte].decode("utf-8", "surrogateescape")) for ends in found]
        for side in (0, 1)
    )
    return list(zip(first, last, strict=True))


def _numbered(chunk: Chunk, colour: str, hidden: Sequence[tuple[int, int]]) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    body = chunk.text.removesuffix("\n").split("\n")
    begin = 0
    for number, line in enumerate(body, start=chunk.span.start_line):
        shown = line.removesuffix("\r")
        styled = Text(printable(shown))
        for low, high in hidden:
            styled.stylize("dim strike", max(low - begin, 0), max(high - begin, 0))
        styled.expand_tabs(4)
        # A broken bar marks the same where styles are not available.
        some = any(low < begin + len(line) and high > begin for low, high in hidden)
        text.append(f"{number:>5} {'┊' if some else '│'} ", style=colour)
        text.append_text(styled).append("\n")
        begin += len(line) + 1
    text.rstrip()
    return text


def printable(text: str) -> str:
    """Return the text with characters that would move a terminal's cursor replaced by a dot."""
    return _CONTROL.sub("·", text)


def fallback_reason(chunker: Chunker, source: SourceFile) -> str | None:
    """Return why the chunker does not split this file as its name promises, if it says so."""
    ask = getattr(chunker, "fallback", None)
    return ask(source) if ask is not None else None


@dataclass
class Stats:
    """The result of one chunker on a folder."""

    spec: str
    unit: SizeUnit = "nws"
    files: int = 0
    size: int = 0
    seconds: float = 0.0
    sizes: list[int] = field(default_factory=list)
    coverages: list[Coverage] = field(default_factory=list)
    fallbacks: Counter[str] = field(default_factory=Counter)
    failed: FailedFiles = field(default_factory=FailedFiles)

    def add(self, chunker: Chunker, source: SourceFile) -> None:
        """Chunk one more file and count it; a file on which the chunker fails has no chunks."""
        begun = time.perf_counter()
        cut = self.failed.attempt(_cut, chunker, source)
        self.seconds += cut.seconds if cut else time.perf_counter() - begun
        self.files += 1
        self.size += len(source.data)
        units = ruler(source.data, self.unit)
        self.sizes += [units.count(each.span.start_byte, each.span.end_byte) for each in (cut.chunks if cut else ())]
        self.coverages.append(cut.coverage if cut else coverage(source.data, []))
        if cut and cut.fallback:
            self.fallbacks[cut.fallback] += 1

    def row(self) -> dict[str, object]:
        """Return the figures as plain values."""
        sizes, covered = distribution(self.sizes), total(self.coverages)
        return {
            "chunker": self.spec,
            "files": self.files,
            "bytes": self.size,
            "unit": self.unit,
            "chunks": sizes.count,
            "mean": sizes.mean,
            **sizes.quantiles,
            "histogram": {"edges": sizes.edges, "counts": sizes.bins},
            "lost": covered.lost,
            "doubled": covered.doubled,
            "fallbacks": dict(self.fallbacks),
            "failed_files": dict(self.failed.reasons),
            "seconds": self.seconds,
        }


def measure_folder(folder: Folder, chunkers: Mapping[str, Chunker], failed: Mapping[str, FailedFiles]) -> list[Stats]:
    """Return the figures of each chunker over the same files, each file read once."""
    stats = [Stats(spec, failed=failed[spec]) for spec in chunkers]
    for number, source in enumerate(folder.files()):
        if not number:  # tables and grammars are loaded with the first file, which is not timed
            for spec, chunker in chunkers.items():
                failed[spec].chunks(chunker, source)
        for one, chunker in zip(stats, chunkers.values(), strict=True):
            one.add(chunker, source)
    return stats


def show_stats(output: Console, stats: list[Stats]) -> None:
    """Print one row per chunker."""
    title = (
        f"{stats[0].files} files, {stats[0].size / 1e6:.2f} MB; sizes in {stats[0].unit}, bars from 0 to the largest"
    )
    table = Table(title=title, box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    table.add_column("chunker", overflow="fold", min_width=12)
    for name in ("chunks", "mean", "p50", "p95", "max", "sizes", "lost", "twice", "fell back", "MB/s"):
        table.add_column(name, justify="right", no_wrap=name != "fell back")
    for one in stats:
        sizes, covered = distribution(one.sizes), total(one.coverages)
        quantiles = [str(sizes.quantiles.get(name, "")) for name in ("p50", "p95", "max")]
        table.add_row(
            one.spec,
            str(sizes.count),
            f"{sizes.mean:.0f}",
            *quantiles,
            histogram(sizes),
            f"{1 - covered.kept_share:.1%}",
            f"{covered.doubled_share:.1%}",
            str(sum(one.fallbacks.values())),
            f"{one.size / 1e6 / max(one.seconds, 1e-9):.1f}",
        )
    output.print(table)


def histogram(sizes: Distribution) -> str:
    """Return one bar character per bin."""
    most = max(sizes.bins, default=0)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in sizes.bins) if most else ""
