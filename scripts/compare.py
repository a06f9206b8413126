"""`chunkbench compare`: which chunker retrieves better, by how much, and is that real?"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.errors import UsageError
from chunkers.tokens import cache_folder

if TYPE_CHECKING:
    from evaluation.experiment.config import ExperimentConfig
    from evaluation.results import Results

_EXAMPLES = """\b
Examples:
  chunkbench compare                                          the embedded dataset
  chunkbench compare ~/src/project                            your code; the queries are mined from it
  chunkbench compare ~/src/project --annotations gold.jsonl   your code and your own queries
  chunkbench compare --chunker cast:size=1000 --chunker cast:size=2000 --baseline fixed-lines:lines=50
  chunkbench compare experiment.toml --json > results.json
"""


@click.command(epilog=_EXAMPLES)
@click.argument("target", required=False, type=click.Path(path_type=Path))
@click.option("--annotations", type=click.Path(path_type=Path), help="Gold lines for TARGET, as JSON Lines.")
@click.option("--dataset", "datasets", multiple=True, metavar="SPEC", help="Datasets; `chunkbench list datasets`.")
@click.option("--chunker", "chunkers", multiple=True, metavar="SPEC", help="Chunkers to compare, e.g. cast:size=1500.")
@click.option("--embedder", "embedders", multiple=True, metavar="SPEC", help="Embedders; `chunkbench list embedders`.")
@click.option("--retriever", "retrievers", multiple=True, metavar="SPEC", help="Retrievers, e.g. dense, bm25.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Measures, e.g. ndcg@10, recall@4000tok.")
@click.option("--headline", metavar="NAME", help="The measure that the verdict is about [naurc@4000tok].")
@click.option("--rule", metavar="RULE", help="When a chunk counts as relevant [any].")
@click.option("--baseline", metavar="SPEC", help="Compare all chunkers with this one instead of all pairs.")
@click.option("--seed", type=int, help="Seed of the statistics [0].")
@click.option("--out", type=click.Path(path_type=Path), help="Results folder [results/NAME-HASH].")
@click.option("--engine", default="processes", show_default=True, help="serial, processes, ray or ray://HOST:PORT.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes [all cores].")
@click.option("--wide", is_flag=True, help="All measures in the table.")
@click.option("--json", "as_json", is_flag=True, help="Print results.json.")
def command(
    *,
    target: Path | None,
    annotations: Path | None,
    out: Path | None,
    engine: str,
    jobs: int | None,
    wide: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - the keys of the experiment, as click read them
) -> None:
    """Compare chunkers on TARGET: an experiment file, a repository, or the embedded dataset."""
    from evaluation.experiment.executors import make_executor
    from evaluation.experiment.run import check, run_experiment
    from evaluation.report.build import write_report
    from evaluation.results_folder import check_output, to_json, write_results
    from scripts.progress import watching

    config = check(_config(target, annotations, options))
    folder = out or Path("results") / _slug(config)
    check_output(folder, config=config.model_dump(mode="json"))
    with watching() as watch:
        results = run_experiment(config, cache=cache_folder(), executor=make_executor(engine, jobs), watch=watch)
    write_results(results, folder)
    write_report(results, folder)
    if as_json:
        click.echo(json.dumps(to_json(results), indent=1, ensure_ascii=False))
    else:
        _print(results, wide=wide)
        click.echo(f"\nResults: {folder}/results.json · summary.md · report.html", err=False)
    failed = [cell for cell in results.cells if cell.status == "failed"]
    for cell in failed:
        click.echo(f"chunkbench: {' × '.join(cell.key)} failed: {cell.reason}", err=True)
    sys.exit(1 if failed else 0)


def _config(target: Path | None, annotations: Path | None, options: dict[str, Any]) -> ExperimentConfig:
    from evaluation.experiment.config import load_config, make_config

    given = {key: value for key, value in options.items() if value not in (None, ())}
    if target is None:
        if annotations:
            raise UsageError(
                "--annotations needs the repository it is about: chunkbench compare REPO --annotations FILE"
            )
        return make_config(given)
    if target.suffix == ".toml" and not target.is_dir():
        if annotations:
            raise UsageError("an experiment file names its datasets itself: leave --annotations out")
        return load_config(target, **given)
    if "datasets" in given:
        raise UsageError("TARGET and --dataset name two different corpora: give one of them")
    if not target.is_dir():
        raise UsageError(f"{target} is neither a folder nor an experiment file (.toml)")
    spec = f"annotations:path={annotations},root={target}" if annotations else f"mined:root={target}"
    return make_config({**given, "datasets": (spec,)})


def _slug(config: ExperimentConfig) -> str:
    """Return a folder name that is the same for the same experiment."""
    digest = hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:8]
    return f"{config.datasets[0].partition(':')[0]}-{digest}"


def _print(results: Results, *, wide: bool) -> None:
    from rich.console import Console

    from evaluation.report.terminal import render_table
    from evaluation.report.verdict import verdict

    # Where the output is not a terminal it is read by a program or a pager: no colours, no folding at 80.
    console = Console(width=None if sys.stdout.isatty() else (200 if wide else 100))
    console.print(render_table(results, wide=wide))
    console.print(verdict(results), markup=False, highlight=False)
