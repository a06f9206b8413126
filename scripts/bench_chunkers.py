"""`python scripts/bench_chunkers.py [FOLDER]`: every chunker against a bare parse of the same files, in one table."""

from __future__ import annotations

import gc
import json
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

# Run as a file, Python would look for modules in this folder only, not in the one above it.
sys.path.insert(0, str(Path(__file__).parent.parent))

from chunkers.coverage import coverage_of, total
from chunkers.errors import MissingExtraError, UsageError
from chunkers.languages import known_languages, parser
from chunkers.registry import CHUNKERS
from chunkers.sizes import ruler
from chunkers.sources import walk
from chunkers.splitting import chunk_file
from chunkers.tokens import encoding, same_length_text
from chunkers.types import Chunker, Piece, SourceFile

_HEADINGS = (
    *("chunker", "× parse", "MB/s", "chunks", "over the limit"),
    *("text kept", "twice", "joins back", "lines right"),
)
_PARSE, _ENCODE = "bare parse", "bare tiktoken"


@dataclass
class Contestant:
    """One row of the table."""

    name: str
    run: Callable[[], object]
    chunker: Chunker | None = None
    seconds: float = float("inf")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--chunker", "specs", multiple=True, help="A spec; again for more. All that are installed, unless given.")
@click.option("--files", default=300, show_default=True, help="At most so many files, evenly over the folder.")
@click.option("--repeat", default=5, show_default=True, help="Rounds; the best of each counts.")
@click.option("--cpu", is_flag=True, help="Processor time, for a busy machine; a library's own process is not counted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def command(folder: Path | None, specs: tuple[str, ...], *, files: int, repeat: int, cpu: bool, as_json: bool) -> None:
    """Time bare tree-sitter parsing and every chunker on a folder's files (the standard library's, if none is named).

    \b
    python scripts/bench_chunkers.py
    python scripts/bench_chunkers.py ~/src/linux --files 1000 --chunker cast --chunker fixed-nws
    """  # noqa: D301 - \b is click's mark for text that is not to be wrapped
    sources = sample(folder or Path(sysconfig.get_paths()["stdlib"]), files)
    rows = [Contestant(_PARSE, lambda: _parse_all(sources)), Contestant(_ENCODE, lambda: _encode_all(sources))]
    for spec in specs or CHUNKERS.entries():
        try:
            chunker = CHUNKERS.create(spec)
        except MissingExtraError as error:
            if specs:
                raise
            click.echo(f"left out: {error}", err=True)
            continue
        rows.append(Contestant(spec, _splitting(chunker, sources), chunker))
    time_interleaved(rows, repeat, clock=time.process_time if cpu else time.perf_counter)
    if not as_json:
        size = sum(len(source.data) for source in sources)
        click.echo(f"{len(sources)} files, {size / 1e6:.1f} MB, best of {repeat}{', processor time' if cpu else ''}\n")
        click.echo(
            "| chunker | × parse | MB/s | chunks | over the limit | text kept | twice | joins back | lines right |"
        )
        click.echo("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        result = figures(row, sources, parse=rows[0].seconds)
        click.echo(json.dumps(result) if as_json else _markdown(result))
    if not as_json:
        _say_workers(sources)


def sample(folder: Path, most: int) -> list[SourceFile]:
    """Return parseable files, evenly taken from the folder's, in path order."""
    found = walk(folder, keep=()).files()
    usable = [source for source in found if source.language in known_languages() and source.data.strip()]
    if not usable:
        raise UsageError(f"{folder} holds no source files")
    step = max(1, len(usable) // most)
    return usable[::step][:most]


def time_interleaved(rows: Sequence[Contestant], repeat: int, *, clock: Callable[[], float]) -> None:
    """Give each contestant its best time; in every round each runs once, so that a slow moment hits all."""
    for _ in range(repeat):
        for row in rows:
            gc.collect()
            begun = clock()
            row.run()
            row.seconds = min(row.seconds, clock() - begun)


def figures(row: Contestant, sources: Sequence[SourceFile], *, parse: float) -> dict[str, object]:
    """Return a contestant's row as plain values."""
    size = sum(len(source.data) for source in sources)
    speed = {"chunker": row.name, "times_parse": row.seconds / parse, "mb_per_second": size / 1e6 / row.seconds}
    return speed if row.chunker is None else {**speed, **_kept(row.chunker, sources)}


def _kept(chunker: Chunker, sources: Sequence[SourceFile]) -> dict[str, object]:
    chunks = over = joined = wrong = 0
    coverages = []
    for source in sources:
        pieces = chunker.split(source)
        made = chunk_file(chunker, source)
        chunks += len(pieces)
        coverages.append(coverage_of(chunker, source, pieces))
        joined += _tiles(pieces, len(source.data))
        wrong += sum(chunk.span.start_line != source.data.count(b"\n", 0, chunk.span.start_byte) + 1 for chunk in made)
        if chunker.limit is not None:
            units = ruler(source.data, chunker.limit.unit)
            over += sum(units.count(piece.start, piece.end) > chunker.limit.amount for piece in pieces)
    covered = total(coverages)
    return {
        "chunks": chunks,
        "over_limit": over if chunker.limit is not None else None,
        "kept": covered.kept_share,
        "doubled": covered.doubled_share,
        "joins": joined / len(sources),
        "wrong_lines": wrong,
    }


def _tiles(pieces: Sequence[Piece], size: int) -> bool:
    """Return whether the pieces, one after the other, are the file."""
    ends = [0, *(piece.end for piece in pieces)]
    return ends[-1] == size and all(piece.start == end for piece, end in zip(pieces, ends, strict=False))


def _markdown(row: dict[str, object]) -> str:
    cells = [str(row["chunker"]), f"{row['times_parse']:.2f}", f"{row['mb_per_second']:.1f}"]
    if "chunks" in row:
        over = "no promise" if row["over_limit"] is None else str(row["over_limit"])
        lines = "yes" if not row["wrong_lines"] else f"{row['wrong_lines']} wrong"
        shares = [f"{row['kept']:.2%}", f"{row['doubled']:.1%}", f"{row['joins']:.0%} of files"]
        cells += [str(row["chunks"]), over, *shares, lines]
    return f"| {' | '.join(cells)} |"


def _parse_all(sources: Sequence[SourceFile]) -> None:
    parsers = {source.language: parser(source.language or "") for source in sources}
    for source in sources:
        parsers[source.language].parse(source.data)


def _encode_all(sources: Sequence[SourceFile]) -> None:
    encoding("cl100k_base").encode_ordinary_batch([same_length_text(source.data) for source in sources], num_threads=1)


def _splitting(chunker: Chunker, sources: Sequence[SourceFile]) -> Callable[[], object]:
    return lambda: [chunker.split(source) for source in sources]


def _split_some(sources: Sequence[SourceFile]) -> int:
    chunker = CHUNKERS.create("cast")
    return sum(len(chunk_file(chunker, source)) for source in sources)


def _say_workers(sources: Sequence[SourceFile]) -> None:
    """Print how much faster two processes are than one."""
    halves = [sources[0::2], sources[1::2]]
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_split_some, [sources[:2]] * 2))
        times = []
        for tasks in ([sources], halves):
            begun = time.perf_counter()
            list(pool.map(_split_some, tasks))
            times.append(time.perf_counter() - begun)
    click.echo(f"\ncast, two processes against one: {times[0] / times[1]:.2f} times as fast")


if __name__ == "__main__":
    try:
        command(standalone_mode=False)
    except UsageError as error:
        click.echo(f"chunkbench: {error}", err=True)
        sys.exit(error.exit_code)
