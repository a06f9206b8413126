"""`python -m scripts.bench.chunkers [FOLDER]`: every chunker against a bare parse of the same files, in one table."""

from __future__ import annotations

import gc
import itertools
import json
import math
import multiprocessing
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import click

# Run as a file, Python would look for modules in this folder only, not in the one above it.
from chunkers.cast import Cast
from chunkers.coverage import coverage_of, total
from chunkers.errors import MissingExtraError, UsageError
from chunkers.languages import known_languages, parser
from chunkers.registry import CHUNKERS
from chunkers.sizes import nws_before, ruler
from chunkers.sources import walk
from chunkers.splitting import chunk_file
from chunkers.syntax import parse, shared_tree
from chunkers.tokens import encoding, same_length_text
from chunkers.types import Chunker, Piece, SourceFile

_HEADINGS = (
    *("chunker", "× parse", "MB/s", "chunks", "over the limit"),
    *("text kept", "twice", "joins back", "lines right"),
)
_PARSE, _ENCODE = "bare parse", "bare tiktoken"
_LEAST = f"parse and sizes of files over {Cast.size} nws"
_GRID = (
    *(f"cast:size={size}" for size in (500, 1000, 1500, 2000, 3000, 4000)),
    *(f"code-chunk:size={size},header=false" for size in (1000, 1500, 3000)),
    *("definitions", "functions", "declarations"),
)
"""Syntax chunkers and sizes of one comparison."""
_TURN = 20
_WORKER_ROUNDS = 10


@dataclass
class Contestant:
    """One row of the table."""

    name: str
    run: Callable[[SourceFile], object]
    chunker: Chunker | None = None
    best: list[float] = field(default_factory=list)
    """The shortest seconds for each file."""

    @property
    def seconds(self) -> float:
        """Seconds over all files."""
        return sum(self.best)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--chunker", "specs", multiple=True, help="A spec; again for more. All that are installed, unless given.")
@click.option("--files", default=300, show_default=True, help="At most so many files, evenly over the folder.")
@click.option("--repeat", default=10, show_default=True, help="Rounds; for each file the best of them counts.")
@click.option("--cpu", is_flag=True, help="Processor time, for a busy machine; a library's own process is not counted.")
@click.option("--tree", default=100, show_default=True, help="Megabytes of source for the peak of memory.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def command(
    folder: Path | None, specs: tuple[str, ...], *, files: int, repeat: int, cpu: bool, tree: int, as_json: bool
) -> None:
    """Time bare tree-sitter parsing and every chunker on a folder's files (the standard library's, if none is named).

    \b
    python -m scripts.bench.chunkers
    python -m scripts.bench.chunkers ~/src/linux --files 1000 --chunker cast --chunker fixed-nws
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    folder = folder or Path(sysconfig.get_paths()["stdlib"])
    sources = sample(folder, files)
    rows = [
        Contestant(_PARSE, _parse),
        Contestant(_LEAST, _parse_and_measure),
        Contestant(_ENCODE, _encode),
    ]
    for spec in specs or [*CHUNKERS.entries(), "code-chunk:header=false"]:
        try:
            chunker = CHUNKERS.create(spec)
        except MissingExtraError as error:
            if specs:
                raise
            click.echo(f"left out: {error}", err=True)
            continue
        rows.append(Contestant(spec, chunker.split, chunker))
    time_interleaved(rows, sources, repeat, clock=time.process_time if cpu else time.perf_counter)
    if not as_json:
        size = sum(len(source.data) for source in sources)
        click.echo(
            f"{len(sources)} files, {size / 1e6:.1f} MB, each the best of {repeat}{', processor time' if cpu else ''}\n"
        )
        click.echo(
            "| chunker | × parse | MB/s | chunks | over the limit | text kept | twice | joins back | lines right |"
        )
        click.echo("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        result = figures(row, sources, parse=rows[0].seconds)
        click.echo(json.dumps(result) if as_json else _markdown(result))
    grid = grid_cost(sources, rounds=min(repeat, 5))
    workers, memory = gain_of_workers(sources), peak_memory(folder, tree)
    if as_json:
        told = {"cast_two_processes": workers, "cast_peak_mb_above_interpreter": memory, "grid_times_parse": grid}
        click.echo(json.dumps(told))
        return
    click.echo(
        f"\n{len(_GRID)} syntax chunkers and sizes on one parse of a file: {grid['shared']:.2f} × the bare parse, of "
        f"which {grid['walks']:.2f} is walking; each with a parse of its own: {grid['alone']:.2f} ×"
    )
    click.echo(f"\ncast, two processes against one: {workers:.2f} times as fast, the best of {_WORKER_ROUNDS} rounds")
    click.echo(f"cast over {tree} MB of source: {memory:.0f} MB above the interpreter at most")


def sample(folder: Path, most: int) -> list[SourceFile]:
    """Return parseable files, evenly sampled from the folder's, in path order."""
    found = walk(folder, keep=()).files()
    usable = [source for source in found if source.language in known_languages() and source.data.strip()]
    if not usable:
        raise UsageError(f"{folder} holds no source files")
    step = max(1, len(usable) // most)
    return usable[::step][:most]


def time_interleaved(
    rows: Sequence[Contestant], sources: Sequence[SourceFile], repeat: int, *, clock: Callable[[], float]
) -> None:
    """Give each contestant its best time for each file; they take turns over a few files at a time.

    If they took turns over each file, the second to parse it would find it in the processor's caches; if over all
    files, a slow moment of the machine would affect only one of them.
    """
    for row in rows:
        row.best = [math.inf] * len(sources)
    for _, first in itertools.product(range(repeat), range(0, len(sources), _TURN)):
        gc.collect()
        for row in rows:
            for number in range(first, min(first + _TURN, len(sources))):
                begun = clock()
                row.run(sources[number])
                row.best[number] = min(row.best[number], clock() - begun)


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
    """Return whether the concatenated pieces are the file."""
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


def _parse(source: SourceFile) -> None:
    parser(source.language or "").parse(source.data)


def _parse_and_measure(source: SourceFile) -> None:
    """Do what `cast` does before it reads the first node: a lower bound of its time."""
    if len(source.data) > Cast.size and nws_before(source.data)[-1] > Cast.size:
        _parse(source)


def _encode(source: SourceFile) -> None:
    encoding("cl100k_base").encode_ordinary(same_length_text(source.data))


def grid_cost(sources: Sequence[SourceFile], *, rounds: int) -> dict[str, float]:
    """Return the cost of a grid of syntax chunkers in bare parses, in processor time: on shared trees, and alone."""
    chunkers = [CHUNKERS.create(spec) for spec in _GRID]
    best = dict.fromkeys(("parse", "shared", "walks", "alone"), math.inf)
    for _ in range(rounds):
        spent = dict.fromkeys(best, 0.0)
        for source in sources:
            with shared_tree():
                began = time.process_time()
                parse(source)
                parsed = time.process_time()
                for chunker in chunkers:
                    chunker.split(source)
                walked = time.process_time()
            spent["parse"] += parsed - began
            spent["walks"] += walked - parsed
            spent["shared"] += walked - began
            for chunker in chunkers:
                began = time.process_time()
                with shared_tree():
                    chunker.split(source)
                spent["alone"] += time.process_time() - began
        best = {name: min(best[name], spent[name]) for name in best}
    return {name: seconds / best["parse"] for name, seconds in best.items() if name != "parse"}


def _split_some(sources: Sequence[SourceFile]) -> int:
    chunker = CHUNKERS.create("cast")
    return sum(len(chunk_file(chunker, source)) for source in sources)


def gain_of_workers(sources: Sequence[SourceFile]) -> float:
    """Return the speedup of two processes over one; each number of processes counts with its best round."""
    by_size = sorted(sources, key=lambda source: len(source.data))
    ways = {1: [by_size], 2: [by_size[0::2], by_size[1::2]]}
    best = dict.fromkeys(ways, math.inf)
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_split_some, [sources[:2]] * 2))
        for _, (count, tasks) in itertools.product(range(_WORKER_ROUNDS), ways.items()):
            begun = time.perf_counter()
            list(pool.map(_split_some, tasks))
            best[count] = min(best[count], time.perf_counter() - begun)
    return best[1] / best[2]


def peak_memory(folder: Path, megabytes: int) -> float:
    """Return the peak megabytes of a process that chunks much source, minus those of a bare interpreter."""
    show = [sys.executable, "-c", "print(open('/proc/self/status').read())"]
    bare = subprocess.run(show, check=True, capture_output=True, text=True)  # noqa: S603 - nothing from outside
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
        most = alone.submit(_chunk_tree, folder, megabytes).result()
    return (_kilobytes(most) - _kilobytes(bare.stdout)) / 1024


def _chunk_tree(folder: Path, megabytes: int) -> str:
    """Chunk the folder's files, repeatedly if necessary, and return Linux's figure for the memory held."""
    chunker, left, files = CHUNKERS.create("cast"), megabytes * 1e6, walk(folder)
    while left > 0:
        for source in files.files():
            chunk_file(chunker, source)
            left -= len(source.data)
            if left <= 0:
                break
    return Path("/proc/self/status").read_text("ascii")


def _kilobytes(status: str) -> int:
    # Not getrusage: its peak is inherited from the parent process.
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    try:
        command(standalone_mode=False)
    except UsageError as error:
        click.echo(f"chunkbench: {error}", err=True)
        sys.exit(error.exit_code)
