"""`python -m scripts.check.chunkers [FOLDER …]`: every built-in chunker over all installed code."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import click

# Run as a file, Python would look for modules in this folder only, not in the one above it.
from chunkers.errors import UsageError
from chunkers.languages import DATA_LANGUAGES, language_of
from chunkers.registry import CHUNKERS
from chunkers.sizes import ruler
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, SourceFile

_LARGEST = 5_000_000


class Checked(NamedTuple):
    """The findings in one file."""

    size: int
    chunks: int
    problems: list[str]


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--chunker", "specs", multiple=True, help="A spec; again for more. All own chunkers, unless given.")
@click.option("--every", default=1, show_default=True, help="Look at every n-th file only.")
@click.option("--workers", default=2, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
def command(folders: tuple[Path, ...], specs: tuple[str, ...], *, every: int, workers: int, as_json: bool) -> None:
    """Check that chunks join back to each file's bytes, hold to the limit, and are right about lines; exit 1 if not.

    \b
    python -m scripts.check.chunkers
    python -m scripts.check.chunkers src --chunker cast:size=100
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    paths = sorted(set(_files(folders or _installed())))[::every]
    if not paths:
        raise UsageError("no source files to check")
    chosen = specs or tuple(name for name, entry in CHUNKERS.entries().items() if entry.extra is None)
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(check_file, paths, [chosen] * len(paths), chunksize=16))
    problems = [problem for one in found for problem in one.problems]
    size, chunks = sum(one.size for one in found), sum(one.chunks for one in found)
    if as_json:
        click.echo(json.dumps({"files": len(paths), "bytes": size, "chunks": chunks, "problems": problems}))
    else:
        for problem in problems:
            click.echo(problem)
        click.echo(
            f"{len(paths)} files, {size / 1e6:.1f} MB, {len(chosen)} chunkers, {chunks} chunks: "
            f"{len(problems)} problems"
        )
    sys.exit(1 if problems else 0)


def check_file(path: Path, specs: Sequence[str]) -> Checked:
    """Return each chunker's errors in a file."""
    source = SourceFile(path.name, path.read_bytes(), language_of(path.name))
    count, problems = 0, []
    for spec in specs:
        try:
            chunker = CHUNKERS.create(spec)
            chunks = chunk_file(chunker, source)
        except Exception as error:  # noqa: BLE001 - any exception is what this script looks for
            problems.append(f"{path}: {spec}: {type(error).__name__}: {error}")
            continue
        count += len(chunks)
        problems += [f"{path}: {spec}: {what}" for what in _problems(chunker, source, chunks)]
    return Checked(len(source.data), count, problems)


def _problems(chunker: Chunker, source: SourceFile, chunks: Sequence[Chunk]) -> Iterator[str]:
    reached = counted = 0
    line = 1
    joined = []
    for chunk in chunks:
        start, end, first, _last = chunk.span
        line += source.data.count(b"\n", counted, start)
        counted = start
        if start > reached:
            yield f"bytes {reached}-{start} are in no chunk"
        if first != line:
            yield f"byte {start} is on line {line}, not {first}"
        joined.append(chunk.text.encode("utf-8", "surrogateescape")[max(reached - start, 0) :])
        reached = max(reached, end)
    if b"".join(joined) != source.data:
        yield "the chunks do not join back to the file"
    if chunker.limit is not None:
        units = ruler(source.data, chunker.limit.unit)
        sizes = [units.count(chunk.span.start_byte, chunk.span.end_byte) for chunk in chunks]
        if sizes and max(sizes) > chunker.limit.amount:
            yield f"a chunk of {max(sizes)} is over {chunker.limit.amount} {chunker.limit.unit}"


def _installed() -> list[Path]:
    paths = sysconfig.get_paths()
    return [Path(paths["stdlib"]), Path(paths["purelib"]), Path(paths["platlib"])]


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in [folder] if folder.is_file() else folder.rglob("*"):
            language = language_of(path.name)
            if language and language not in DATA_LANGUAGES and path.is_file() and path.stat().st_size <= _LARGEST:
                yield path


if __name__ == "__main__":
    try:
        command(standalone_mode=False)
    except UsageError as error:
        click.echo(f"chunkbench: {error}", err=True)
        sys.exit(error.exit_code)
