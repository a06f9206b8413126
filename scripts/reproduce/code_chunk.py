"""code-chunk's RepoEval protocol, with its own stored vectors, through the ordinary pipeline.

Each of six repositories is searched alone for the prompts of its tasks; a chunk is relevant if it is from the same file
and shares a line, blank or not, with the gold; binary precision, recall and nDCG at 5; the mean per repository, then
the unweighted mean over repositories.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.errors import UsageError
from chunkers.tokens import cache_folder
from scripts.cli import exit_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.experiment.session import Session
    from evaluation.results.types import Results
    from evaluation.types import CellKey

REPOSITORIES = (
    "amazon-science_patchcore-inspection",
    "deepmind_tracr",
    "facebookresearch_omnivore",
    "google_lightweight_mmm",
    "lucidrains_imagen-pytorch",
    "maxhumber_redframes",
)
MEASURES = ("precision@5", "recall@5", "ndcg@5")
PUBLISHED_DIFFERENTLY = "amazon-science_patchcore-inspection"
"""Its published run also indexed copies of its sources under build/lib, which are not in the archive."""


@click.command()
@click.option("--data", required=True, type=click.Path(path_type=Path), help="Folder with the tasks and repositories.")
@click.option("--vectors", required=True, type=click.Path(path_type=Path), help="The .npz of keys and vectors.")
@click.option("--size", default=1500, show_default=True, help="Non-whitespace characters per chunk.")
@click.option(
    "--chunker", "chunkers", multiple=True, default=("fixed-nws",), show_default=True, help="Chunkers by name."
)
@click.option("--gold", type=click.Choice(["prompt", "body"]), default="prompt", show_default=True, help="Gold lines.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, data: Path, vectors: Path, size: int, chunkers: tuple[str, ...], gold: str, as_json: bool) -> int:
    """Reproduce code-chunk's retrieval table on RepoEval."""
    from evaluation.config import make_config
    from evaluation.experiment.executors import Serial
    from evaluation.experiment.run import run_experiment
    from evaluation.experiment.session import Session

    # Its vectors are of the code alone, without the library's optional header.
    specs = [f"{name}:size={size}" + (",header=false" if name == "code-chunk" else "") for name in chunkers]
    config = make_config(
        {
            "datasets": [dataset(data, name, gold) for name in REPOSITORIES],
            "chunkers": specs,
            "embedders": [f"precomputed:path={vectors},edges=optional"],
            "measures": MEASURES,
            "headline": "ndcg@5",
            "rule": "any(blank=true)",
        }
    )
    session = Session.resolve(config, cache_folder())
    results = run_experiment(session, Serial())
    tables: dict[str, Any] = {spec: table(session, results, spec, gold=gold, data=data) for spec in specs}
    differences = list(comparisons(results, specs))
    if as_json:
        found = {**tables, "comparisons": differences} if len(specs) > 1 else tables[specs[0]]
        click.echo(json.dumps(found, indent=1))
    else:
        for spec, found in tables.items():
            _print(spec, found)
        for row in differences:
            click.echo(
                f"{row['a']} − {row['b']}: {row['difference']:+.4f} ({row['low']:+.4f} … {row['high']:+.4f}) in "
                f"{row['measure']} over {row['n_queries']} queries of {row['n_clusters']} repositories that have all "
                f"vectors, p = {row['p_corrected']:.3f}. {row['caveat']}"
            )
    return 0 if all(found["missing_vectors"] == 0 for found in tables.values()) else 1


def dataset(data: Path, repository: str, gold: str) -> str:
    """Return the spec of one repository under code-chunk's protocol."""
    return f"repoeval:path={data},gold={gold},repositories={repository},newlines=code-chunk"


def table(session: Session, results: Results, chunker: str, *, gold: str, data: Path) -> dict[str, Any]:
    """Return the means of each repository, their unweighted mean, and the number of texts without a vector."""
    rows: dict[str, Any] = {}
    missing = 0
    for name in REPOSITORIES:
        cell = next(
            cell
            for cell in results.cells
            if cell.key.chunker == chunker and cell.key.dataset == dataset(data, name, gold)
        )
        if cell.status == "failed":
            missing += missing_vectors(session, cell.key)
            rows[name] = {"failed": cell.reason}
        else:
            rows[name] = {measure: cell.measures[measure].mean for measure in MEASURES}
            rows[name]["queries"] = cell.measures["ndcg@5"].scored
    scored = [row for row in rows.values() if "failed" not in row]
    macro = {measure: sum(row[measure] for row in scored) / len(scored) for measure in MEASURES} if scored else {}
    return {"repositories": rows, "macro": macro, "missing_vectors": missing}


def comparisons(results: Results, chunkers: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the test of each difference in nDCG@5, on the repositories where every chunker has all its vectors."""
    import numpy as np

    from evaluation.statistics.compare import compare_pairs

    cells = {(cell.key.dataset, cell.key.chunker): cell for cell in results.cells if cell.status == "ok"}
    shared = [name for name in results.config.datasets if all((name, chunker) in cells for chunker in chunkers)]
    if len(chunkers) < 2 or not shared:
        return
    scores = np.array([np.concatenate([cells[name, each].scores["ndcg@5"] for name in shared]) for each in chunkers])
    clusters = [query.cluster for name in shared for query in results.queries_of(name)]
    for row in compare_pairs(scores, clusters, names=chunkers):
        yield {"measure": "ndcg@5", **row.row()}


def missing_vectors(session: Session, cell: CellKey) -> int:
    """Return how many chunks and queries of a dataset have no vector in the file."""
    from chunkers.splitting import chunk_file
    from indexing.encoders.precomputed import Precomputed

    encoder, splitter = session.encoder(cell.embedder), session.chunker(cell.chunker)
    if not isinstance(encoder, Precomputed):
        raise UsageError(f"{cell.embedder!r} is not a file of vectors")
    corpus = session.dataset(cell.dataset).dataset
    texts = [query.text for query in corpus.queries]
    for repository in corpus.repositories:
        for source in repository.files():
            texts += [chunk.indexed_text for chunk in chunk_file(splitter, source)]
    return encoder.missing(texts)


def _print(chunker: str, found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    lines = Table(title=chunker, box=None, title_justify="left")
    for heading in ("repository", *MEASURES, "queries"):
        lines.add_column(heading, justify="left" if heading == "repository" else "right")
    for name, row in found["repositories"].items():
        if "failed" in row:
            lines.add_row(name, "vectors are missing")
        else:
            note = " ¹" if name == PUBLISHED_DIFFERENTLY else ""
            lines.add_row(name + note, *(f"{row[measure]:.4f}" for measure in MEASURES), str(row["queries"]))
    lines.add_row("mean", *(f"{found['macro'].get(measure, float('nan')):.4f}" for measure in MEASURES), "")
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(lines)
    console.print("¹ the published run also indexed copies under build/lib", markup=False)


if __name__ == "__main__":
    exit_with(command)
