"""`python -m scripts.bench.compare REPO`: a comparison from scratch, repeated, and after some files have changed."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from chunkers.errors import UsageError
from chunkers.sources import walk

_REGRESSION = 3
_PARTS = {"compare": ("cold", "warm"), "nights": ("first night", "second night")}
_NIGHTLY = """\
datasets = ["mined:root={root}"]
chunkers = ["cast:size=1700", "recursive:size=1700", "fixed-lines:lines=50"]
retrievers = ["bm25"]
[nightly]
history = "history"
"""


class Cost(NamedTuple):
    """The cost of a run, over all its processes."""

    processor: float
    wall: float


class Checkout(NamedTuple):
    """A checkout with its own environment, and the folder for its runs."""

    name: str
    program: Path
    folder: Path


@click.command()
@click.argument("repository", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--other", type=click.Path(path_type=Path), help="Another checkout, with its own .venv, run in turn.")
@click.option("--part", "parts", multiple=True, type=click.Choice(list(_PARTS)), help="What is timed [both].")
@click.option("--rounds", default=2, show_default=True, help="Of which the shortest counts.")
@click.option("--jobs", default=2, show_default=True, help="Processes of each run.")
@click.option("--changed", default=0.01, show_default=True, help="Part of the files that change overnight.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *,
    repository: Path,
    other: Path | None,
    parts: tuple[str, ...],
    rounds: int,
    jobs: int,
    changed: float,
    as_json: bool,
) -> None:
    """Time `compare REPOSITORY --retriever bm25` from an empty cache and with a full one, and two nights of BM25.

    Rounds alternate between the checkouts, so that both meet the same load of the machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        checkouts = [Checkout("this", Path(sys.executable).with_name("chunkbench"), Path(folder, "this"))]
        if other is not None:
            checkouts.append(Checkout("other", other / ".venv" / "bin" / "chunkbench", Path(folder, "other")))
        copy = Path(folder, "repository", repository.resolve().name)
        costs: dict[str, dict[str, list[Cost]]] = {each.name: {} for each in checkouts}
        edited = 0
        for part in rounds * (parts or tuple(_PARTS)):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(repository, copy, symlinks=True)
            for each in checkouts:
                shutil.rmtree(each.folder, ignore_errors=True)
                each.folder.mkdir()
            for state in _PARTS[part]:
                if state == "second night":
                    edited = edit(copy, changed)
                for each in checkouts:
                    costs[each.name].setdefault(state, []).append(timed(each, part, copy, jobs))
    best = {
        name: {state: Cost(*map(min, zip(*found, strict=True))) for state, found in states.items()}
        for name, states in costs.items()
    }
    found = {
        "repository": repository.name,
        "files": len(walk(repository).paths),
        "changed_files": edited,
        "rounds": rounds,
        "jobs": jobs,
        "load": os.getloadavg()[0],
        "costs": {name: {state: cost._asdict() for state, cost in states.items()} for name, states in best.items()},
    }
    click.echo(json.dumps(found, indent=1) if as_json else "\n".join(_lines(found, best)))


def timed(checkout: Checkout, part: str, repository: Path, jobs: int) -> Cost:
    """Execute one run and return its cost."""
    folder = checkout.folder
    environment = {**os.environ, "CHUNKBENCH_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    # Without bytecode files, every start would compile all modules.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if part == "compare":
        asked = ["compare", repository, "--retriever", "bm25", "--out", folder / "results"]
    else:
        (folder / "nightly.toml").write_text(_NIGHTLY.format(root=repository), "utf-8")
        asked = ["nightly", folder / "nightly.toml"]
    words = [str(word) for word in (checkout.program, *asked, "--quiet", "--jobs", jobs)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(  # noqa: S603 - the checkouts that the user names
        words, env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, _REGRESSION):
        raise UsageError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return Cost(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


def edit(repository: Path, part: float) -> int:
    """Add a line to some of the files, chosen by a hash of their paths; return how many."""
    paths = sorted(walk(repository).paths, key=lambda path: hashlib.sha256(path.encode()).digest())
    chosen = paths[: max(1, round(part * len(paths)))]
    for path in chosen:
        with (repository / path).open("ab") as file:
            file.write(b"\n")
    return len(chosen)


def _lines(found: dict[str, Any], best: dict[str, dict[str, Cost]]) -> Iterator[str]:
    yield (
        f"{found['repository']}: {found['files']:,} files, {found['jobs']} processes, shortest of {found['rounds']} "
        f"rounds, {found['changed_files']} files changed before the second night"
    )
    yield ""
    yield "| run | " + " | ".join(f"{name} processor s | {name} wall s" for name in best) + " |"
    yield "|---|" + "---:|" * (2 * len(best))
    mine = best["this"]
    for state in mine:
        cells = (f"{cost:.1f}" for costs in best.values() for cost in costs[state])
        yield f"| {state} | " + " | ".join(cells) + " |"
    yield ""
    if "first night" in mine:
        share = mine["second night"].processor / mine["first night"].processor
        yield f"The second night took {share:.1%} of the first one's processor time."
    if "cold" in mine and "other" in best:
        first = best["other"]["cold"]
        yield (
            f"From nothing, this checkout is {first.processor / mine['cold'].processor:.2f} times as fast as the other "
            f"by processor time, {first.wall / mine['cold'].wall:.2f} times by the clock."
        )
    yield f"Load of the machine at the end: {found['load']:.1f} on {len(os.sched_getaffinity(0))} processors."


if __name__ == "__main__":
    command()
