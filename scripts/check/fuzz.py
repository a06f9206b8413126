"""`python -m scripts.check.fuzz`: corrupts every input format and every source file; exit 1 if that reveals a bug."""

from __future__ import annotations

import json
import math
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from chunkers.languages import grammar, known_languages
from scripts.check.fuzz_chunkers import cases, example_sources, run_cases
from scripts.check.fuzz_datasets import formats
from scripts.check.fuzz_inputs import CODE, PATCH, Target, finding, quiet, targets
from scripts.check.spoiling import spoiled

_EXAMPLES = Path(__file__).parents[2] / "tests" / "fixtures" / "code"
_PART = 500
_TOLD = 5_000
_SLOW = 5.0
"""Processor time that reading a corrupted file of some kilobytes may take, in seconds."""


class Find(NamedTuple):
    """An input that was handled wrongly."""

    where: str
    what: str
    data: bytes


@click.command()
@click.option("--inputs", default=2_000, show_default=True, type=click.IntRange(min=0), help="Spoiled input files.")
@click.option("--chunks", default=500, show_default=True, type=click.IntRange(min=0), help="Files cut by chunkers.")
@click.option("--seed", default=0, show_default=True)
@click.option("--minutes", type=float, help="Stop each of the two parts after so long, and count what was done.")
@click.option("--keep", type=click.Path(path_type=Path), help="Write each find to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, inputs: int, chunks: int, seed: int, minutes: float | None, keep: Path | None, as_json: bool) -> None:
    """Spoil inputs at random and read them; an answer or one line of UsageError is right, all else is a find.

    \b
    python -m scripts.check.fuzz                                  a minute
    python -m scripts.check.fuzz --inputs 100000 --chunks 20000   an hour
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    began = time.monotonic()
    with quiet():
        seconds = minutes * 60 if minutes else math.inf
        read, found = fuzz_inputs(inputs, seed=seed, seconds=seconds)
        cut, more = fuzz_chunkers(chunks, seed=seed, seconds=seconds)
    finds = [*found, *more]
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        for number, each in enumerate(finds):
            (keep / f"{number:04}").write_bytes(each.data)
    if as_json:
        rows = [{"where": each.where, "what": each.what} for each in finds]
        click.echo(json.dumps({"inputs": dict(read), "chunks": cut, "seed": seed, "finds": rows}, indent=1))
    else:
        for (where, what), count in Counter((each.where, each.what) for each in finds).most_common():
            click.echo(f"{where}: {what}" + (f" (×{count})" if count > 1 else ""))
        click.echo(
            f"{sum(read.values()):,} spoiled inputs of {len(read)} formats and {cut:,} files for chunkers in "
            f"{time.monotonic() - began:.0f} s: {len(finds)} finds"
        )
    sys.exit(1 if finds else 0)


def fuzz_inputs(count: int, *, seed: int, seconds: float = math.inf) -> tuple[Counter[str], list[Find]]:
    """Read this many corrupted inputs, or for this long, cycling through the formats; return counts and finds."""
    if not count:
        return Counter(), []
    until = time.monotonic() + seconds
    read: Counter[str] = Counter()
    finds: list[Find] = []
    with tempfile.TemporaryDirectory() as name, _own_cache(Path(name) / "cache"):
        chosen = [*targets(Path(name)), *formats(Path(name))]
        finds += [
            Find(target.name, f"the good example: {wrong}", target.good)
            for target in chosen
            if (wrong := finding(target, Path(name), target.good))
        ]
        for number in range(count):
            if time.monotonic() > until:
                break
            target = chosen[number % len(chosen)]
            if number and number % _TOLD == 0:
                click.echo(f"{number:,} of {count:,} inputs: {len(finds)} finds", err=True)
            read[target.name] += 1
            finds += _one(target, Path(name), random.Random(f"{seed} {number}"))  # noqa: S311 - tests, not secrets
    return read, finds


def _one(target: Target, home: Path, rng: random.Random) -> Iterator[Find]:
    data = spoiled(target.good, rng)
    began = time.process_time()
    wrong = finding(target, home, data)
    if not wrong and (took := time.process_time() - began) > _SLOW:
        wrong = f"takes {took:.0f} s"
    if wrong:
        yield Find(target.name, wrong, data)


def fuzz_chunkers(count: int, *, seed: int, seconds: float = math.inf) -> tuple[int, list[Find]]:
    """Cut this many files, or for this long; return the number and the finds."""
    until = time.monotonic() + seconds
    examples = [CODE, PATCH, *example_sources(_EXAMPLES)]
    finds: list[Find] = []
    done = 0
    if count >= _PART:  # loaded here once, so that every child has each grammar
        for language in known_languages():
            grammar(language)
    while done < count and time.monotonic() <= until:
        todo = cases(min(_PART, count - done), first=done)
        done += len(todo)
        finds += [
            Find(f"{case.spec} on {case.language}", what, str(case.number).encode())
            for case, what in run_cases(todo, seed=seed, examples=examples)
        ]
        if count >= _PART:
            click.echo(f"{done:,} of {count:,} files: {len(finds)} finds", err=True)
    return done, finds


class _own_cache:  # noqa: N801 - used as a context manager
    """Unpack archives and store vectors below a folder of this run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = os.environ.get("CHUNKBENCH_CACHE")

    def __enter__(self) -> None:
        os.environ["CHUNKBENCH_CACHE"] = str(self._folder)

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            os.environ.pop("CHUNKBENCH_CACHE")
        else:
            os.environ["CHUNKBENCH_CACHE"] = self._before


if __name__ == "__main__":
    command()
