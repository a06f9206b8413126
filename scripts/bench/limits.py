"""`python -m scripts.bench.limits`: many queries, many files, a large file, many rows: time and peak memory of each."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

QUERIES, FILES, MEGABYTES, ROWS = 50_000, 200_000, 50, 1_000_000
_ROOT = Path(__file__).parents[2]
_FUNCTION = (
    "def make_thing_{number}(size, colour):\n    parts = [size, colour, {number}]\n    return sorted(parts)\n\n\n"
)
_LINES = _FUNCTION.count("\n")
_COMPARE = ("--retriever", "bm25", "--measure", "ndcg@5", "--flips", "100", "--engine", "serial", "--quiet")


class Figures(NamedTuple):
    """The cost of one case."""

    case: str
    code: int
    seconds: float
    """Processor time."""
    megabytes: float
    """Peak memory of the process."""


@click.command()
@click.option("--share", default=1.0, show_default=True, help="Part of the full sizes, to see how figures grow.")
@click.option("--only", multiple=True, help="Only cases whose name holds this; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, share: float, only: tuple[str, ...], as_json: bool) -> None:
    """Run the command on inputs of the largest sizes that are promised, each in a process of its own."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        for case, arguments in cases(Path(name), share, only):
            found.append(measure(case, arguments, Path(name) / "cache"))
            if not as_json:
                click.echo("{:32} exit {}  {:8.1f} s  {:8.0f} MB".format(*found[-1]))
    if as_json:
        click.echo(json.dumps({"share": share, "cases": [each._asdict() for each in found]}, indent=1))
    sys.exit(1 if any(each.code for each in found) else 0)


def cases(home: Path, share: float, only: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Yield each case with the command to measure; its input is created in turn."""
    queries, files, size, rows = (max(int(n * share), 1) for n in (QUERIES, FILES, MEGABYTES * 10**6, ROWS))
    made: dict[str, Callable[[], list[str]]] = {
        f"{queries:,} queries": lambda: _compare(home / "queries", files=200, queries=queries, rows=queries),
        f"{files:,} files": lambda: _compare(home / "files", files=files, queries=20, rows=20),
        f"a file of {size / 1e6:g} MB": lambda: _large(home / "large", size),
        f"{rows:,} annotation rows": lambda: _compare(home / "rows", files=200, queries=max(rows // 200, 1), rows=rows),
    }
    for case, make in made.items():
        if not only or any(part in case for part in only):
            yield case, make()


def measure(case: str, arguments: list[str], cache: Path) -> Figures:
    """Run `chunkbench` in a process of its own."""
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "scripts", *arguments],
        {**os.environ, "CHUNKBENCH_CACHE": str(cache), "PYTHONPATH": str(_ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    return Figures(case, os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss / 1024)


def _compare(home: Path, *, files: int, queries: int, rows: int) -> list[str]:
    """Write a repository and its annotations: the requested number of rows, distributed over the queries."""
    functions = max(-(-queries // files), 1)
    for number in range(files):
        place = home / "code" / f"{number // 1000:04}" / f"m{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(_FUNCTION.format(number=number * functions + at) for at in range(functions)), "ascii")
    with (home / "gold.jsonl").open("w", encoding="ascii") as out:
        for row in range(rows):
            asked = row % queries
            # For a query with several rows, each marks another function.
            marked = (asked + row // queries) % (files * functions)
            number, at = divmod(marked, functions)
            lines = {"start_line": at * _LINES + 1, "end_line": at * _LINES + 3}
            where = {"repo": "code", "file": f"{number // 1000:04}/m{number}.py", **lines, "relevance": 1}
            out.write(json.dumps({"query_id": f"q{asked}", "query": f"make thing {asked}", **where}) + "\n")
    given = ["compare", str(home / "code"), "--annotations", str(home / "gold.jsonl"), "--out", str(home / "out")]
    return [*given, *_COMPARE, "--chunker", "fixed-lines:lines=20", "--chunker", "cast:size=600"]


def _large(home: Path, size: int) -> list[str]:
    home.mkdir()
    with (home / "large.py").open("w", encoding="ascii") as out:
        written = number = 0
        while written < size:
            written += out.write(_FUNCTION.format(number=number))
            number += 1
    return ["chunk", str(home / "large.py"), "--chunker", "cast:size=1500", "--json"]


if __name__ == "__main__":
    command()
