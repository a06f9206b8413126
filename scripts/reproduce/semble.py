"""semble's benchmark through the ordinary pipeline: BM25 by its own nDCG@10, beside its published figures.

The top ten chunks of each query, not deduplicated by file; each target once, at its first chunk; the mean over a
repository's queries, then the unweighted mean over repositories. ``python -m scripts.reproduce.semble --data FOLDER``
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.tokens import cache_folder
from scripts.cli import exit_with

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.results.types import Results

MEASURE = "semble_ndcg@10"
PUBLISHED = {
    "ripgrep": (0.126, 0.117),
    "BM25 raw": (0.677, 0.685),
    "potion-code-16M raw": (0.654, 0.665),
    "semble hybrid": (0.854, 0.845),
}
"""Means of semble's published per-query results: over its 63 repositories, and over the 41 whose sources are archived.

Its BM25 indexes chunks of up to 750 characters, and appends the file's stem twice and its last three folders to each.
"""
DEFAULT = tuple(
    f"{chunker},header={header}"
    for chunker in ("cast:size=1500", "fixed-nws:size=1500")
    for header in ("none", "path", "scope")
)


@click.command()
@click.option("--data", required=True, type=click.Path(path_type=Path), help="semble's benchmarks folder.")
@click.option("--repos", default="", help="Folder with the checkouts, where they are not in --data.")
@click.option("--corpus", type=click.Choice(["all", "semble"]), default="semble", show_default=True, help="Files.")
@click.option("--chunker", "chunkers", multiple=True, default=DEFAULT, help="Chunkers; may be given several times.")
@click.option("--retriever", default="bm25", show_default=True)
@click.option("--limit", type=int, help="At most this many questions per repository.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *, data: Path, repos: str, corpus: str, chunkers: tuple[str, ...], retriever: str, limit: int | None, as_json: bool
) -> int:
    """Score chunkers on semble's benchmark by its own measure."""
    from evaluation.config import make_config
    from evaluation.experiment.executors import Serial
    from evaluation.experiment.run import run_experiment
    from evaluation.experiment.session import Session

    options = {"path": data, "repos": repos, "corpus": corpus, "problems": "skip", "limit": limit}
    spec = "semble:" + ",".join(f"{key}={value}" for key, value in options.items() if value not in ("", None))
    config = make_config(
        {
            "datasets": [spec],
            "chunkers": list(chunkers),
            "retrievers": [retriever],
            "measures": [MEASURE],
            "headline": MEASURE,
        }
    )
    results = run_experiment(Session.resolve(config, cache_folder()), Serial())
    rows = {chunker: row(results, chunker) for chunker in chunkers}
    if as_json:
        click.echo(json.dumps({"measured": rows, "published": PUBLISHED}, indent=1))
    else:
        _print(rows)
    return 0


def row(results: Results, chunker: str) -> dict[str, Any]:
    """Return the mean over repositories, of all queries and of each category."""
    cell = next(cell for cell in results.cells if cell.key.chunker == chunker)
    if cell.status != "ok":
        return {"failed": cell.reason}
    queries = results.queries_of(cell.key.dataset)
    scored = [
        (query.cluster, query.category, float(score))
        for query, score in zip(queries, cell.scores[MEASURE], strict=True)
    ]
    found = {"all": _macro((repo, score) for repo, _, score in scored), "queries": len(scored)}
    for name in sorted({query.category for query in queries}):
        found[name] = _macro((repo, score) for repo, category, score in scored if category == name)
    return found


def _macro(scores: Iterable[tuple[str, float]]) -> float:
    groups: dict[str, list[float]] = defaultdict(list)
    for repo, score in scores:
        groups[repo].append(score)
    return sum(sum(group) / len(group) for group in groups.values()) / len(groups)


def _print(rows: dict[str, dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    headings = ("all", "architecture", "semantic", "symbol")
    for heading in ("chunker", *headings, "queries"):
        table.add_column(heading, justify="left" if heading == "chunker" else "right")
    for chunker, found in rows.items():
        if "failed" in found:
            table.add_row(chunker, found["failed"])
        else:
            table.add_row(chunker, *(f"{found[name]:.4f}" for name in headings), str(found["queries"]))
    for name, value in PUBLISHED.items():
        table.add_row(f"published, 63 / 41 repositories: {name}", f"{value[0]:.3f} / {value[1]:.3f}")
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    exit_with(command)
