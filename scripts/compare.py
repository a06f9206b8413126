"""`chunkbench compare`: which chunker retrieves better, by how much, and is that real?"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.errors import UsageError
from chunkers.tokens import usable_cache
from scripts.report import TESTS, WEIGHTS
from scripts.verbosity import is_quiet, note, set_verbosity

if TYPE_CHECKING:
    from evaluation.config import ExperimentConfig
    from evaluation.experiment.executors import Executor
    from evaluation.experiment.session import Session
    from evaluation.results.types import Results

_EXAMPLES = """\b
Examples:
  chunkbench compare                                          the embedded dataset
  chunkbench compare ~/src/project                            your code; the queries are mined from it
  chunkbench compare ~/src/gin ~/src/flask ~/src/express      several repositories: each is a unit of the statistics
  chunkbench compare ~/src/project --annotations gold.jsonl   your code and your own queries
  chunkbench compare --chunker cast:size=1000 --chunker cast:size=2000 --baseline fixed-lines:lines=50
  chunkbench compare experiment.toml --json > results.json
"""


@click.command(epilog=_EXAMPLES)
@click.argument("targets", nargs=-1, metavar="[TARGET]...", type=click.Path(path_type=Path))
@click.option("--annotations", type=click.Path(path_type=Path), help="Gold lines for TARGET, as JSON Lines.")
@click.option("--dataset", "datasets", multiple=True, metavar="SPEC", help="Datasets; `chunkbench list datasets`.")
@click.option("--chunker", "chunkers", multiple=True, metavar="SPEC", help="Chunkers to compare, e.g. cast:size=1500.")
@click.option("--match-size", metavar="UNIT=N", help="Choose every chunker's limit for this mean size, e.g. nws=1200.")
@click.option("--embedder", "embedders", multiple=True, metavar="SPEC", help="Embedders; `chunkbench list embedders`.")
@click.option("--retriever", "retrievers", multiple=True, metavar="SPEC", help="Retrievers, e.g. dense, bm25.")
@click.option(
    "--reader", "readers", multiple=True, metavar="SPEC", help="What is read around hits: merge, lines, file."
)
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Measures, e.g. ndcg@10, recall@4000tok.")
@click.option(
    "-k", "k", multiple=True, type=click.IntRange(min=1), help="Cutoffs of nDCG, precision, recall, hit, MRR and MAP."
)
@click.option("--headline", metavar="NAME", help="The measure that the verdict is about [naurc@4000tok].")
@click.option("--rule", metavar="RULE", help="When a chunk counts as relevant [any].")
@click.option(
    "--insist", is_flag=True, default=None, help="Allow a rule that cannot compare chunkers, such as token_f1."
)
@click.option(
    "--duplicates",
    type=click.Choice(["keep", "first", "equal"]),
    help="Identical files: keep all [this one], index only the first, or count a copy of gold text as gold.",
)
@click.option(
    "--offsets",
    type=click.IntRange(min=1, max=50),
    help="Average line and token chunkers over N first cuts [1].",
)
@click.option("--spans", multiple=True, metavar="NAME=FILE", help="A span run beside the chunkers, as JSON Lines.")
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME=COMMAND", help="A tool to ask every query; or ripgrep, grep-read."
)
@click.option("--tool-timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds for one answer [60].")
@click.option("--write-spans", type=click.Path(), metavar="FILE", help="Write every ranking as a span run.")
@click.option(
    "--price", multiple=True, metavar="[EMBEDDER=]NUMBER", help="What a million embedded tokens cost: shown per row."
)
@click.option("--baseline", metavar="SPEC", help="Compare all chunkers with this one instead of all pairs.")
@click.option("--budget", "budgets", multiple=True, type=click.IntRange(min=1), help="Points of the budget curve.")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many queries of each dataset, drawn by seed.")
@click.option("--seed", type=int, help="Seed of the statistics and of --limit [0].")
@click.option("--weight", type=click.Choice(WEIGHTS), help="What counts once in a mean [repository].")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    help="Differences within this are practically the same: points, or per cent of the mean [2].",
)
@click.option("--test", type=click.Choice(TESTS), help="The procedure behind every p and interval [t].")
@click.option("--flips", type=click.IntRange(min=100), help="Sign flips, where the test is sign-flip [100000].")
@click.option("--depth", type=click.IntRange(min=100), help="Results searched per query [1000].")
@click.option("--out", type=click.Path(), help="Results folder [results/NAME-HASH].")
@click.option("--engine", help="serial, processes, ray or ray://HOST:PORT [processes].")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes [all cores].")
@click.option(
    "--overwrite",
    type=click.Choice(["always", "never", "only-missing", "only-cache"]),
    help="What to do with results that exist: make all again, keep the output folder, add what lacks [this one], "
    "compute nothing.",
)
@click.option("--shard", metavar="I/N", help="Run the I-th of N parts; `chunkbench report` merges them.")
@click.option("--wide", "show", flag_value="wide", help="All measures, as far as they fit.")
@click.option("--json", "show", flag_value="json", help="Print results.json.")
def command(
    *,
    targets: tuple[Path, ...],
    annotations: Path | None,
    **options: Any,  # noqa: ANN401 - the keys of the experiment, as click parsed them
) -> None:
    """Compare chunkers on TARGET: an experiment file, repositories, a folder of clones, or the embedded dataset."""
    from evaluation.experiment.executors import Serial
    from evaluation.experiment.matching import match_sizes
    from evaluation.experiment.run import ExperimentShard, run_experiment
    from evaluation.experiment.session import Session
    from evaluation.experiment.span_writing import write_spans
    from evaluation.experiment.spread_work import spread_work
    from evaluation.report.build import write_report
    from evaluation.results.document import to_json
    from evaluation.results.folder import check_output, write_results
    from scripts.progress import shown_progress

    asked = config_of(targets, annotations, options)
    set_verbosity(quiet=asked.run.quiet, verbose=asked.run.verbose)
    executor = executor_of(asked)
    matched = match_sizes(Session.resolve(asked, usable_cache()), executor)
    session = matched.session
    config = session.config
    for size in matched.chosen:
        note(
            f"left out: {size.problem}" if size.problem else f"{size.spec}: mean {size.mean:,.0f}, for {matched.target}"
        )
    with spread_work(session.store, executor):
        list(map(session.dataset, config.datasets))
    for spec in config.datasets:
        cap = session.dataset(spec).dataset.details.get("cap")
        if cap:
            note(f"{spec}: at most {cap} queries from each repository")
        drawn = session.dataset(spec).dataset.details.get("queries_drawn")
        if drawn:
            note(f"{spec}: {drawn['limit']} of {drawn['of']} queries, drawn with seed {drawn['seed']}")
    run = config.run
    part = ExperimentShard.parse(run.shard) if run.shard else None
    folder = Path(run.out or f"results/{_slug(config)}" + (f"-{part.number}-of-{part.of}" if part else ""))
    if run.overwrite == "never" and (folder / "results.json").exists():
        raise UsageError(f"{folder} has results and --overwrite never keeps them: name another folder with --out")
    check_output(folder, config=config, shard=str(part) if part else None)
    overwrite = "only-missing" if run.overwrite == "never" else run.overwrite
    if part is None and overwrite == "only-missing":
        _show_lexical_first(session, executor)
    with shown_progress() as progress:
        results = run_experiment(session, executor, progress=progress, overwrite=overwrite, shard=part)
    write_results(results, folder)
    with spread_work(session.store, Serial()):
        write_report(results, folder)
    if run.write_spans is not None:
        note(f"{write_spans(session, Path(run.write_spans), shard=part)} runs in {run.write_spans}")
    if run.show == "json":
        click.echo(json.dumps(to_json(results), indent=1, ensure_ascii=False))
    else:
        _print(results, wide=run.show == "wide")
        click.echo(f"\nResults: {folder}/results.json · summary.md · report.html", err=False)
    failed = [cell for cell in results.cells if cell.status == "failed"]
    for cell in failed:
        click.echo(f"chunkbench: {' × '.join(cell.key)} failed: {cell.reason}", err=True)
    sys.exit(1 if failed else 0)


def executor_of(config: ExperimentConfig) -> Executor:
    """Return the executor; its workers end with the command, however that ends."""
    from evaluation.experiment.executors import make_executor

    executor = make_executor(config.run.engine, config.run.jobs)
    click.get_current_context().call_on_close(executor.close)
    return executor


def _show_lexical_first(session: Session, executor: Executor) -> None:
    """Print the table of the retrievers that need no vectors, on stderr, while vectors have yet to be computed."""
    from evaluation.experiment.run import run_experiment
    from evaluation.report.terminal import render_table
    from scripts.console import error_console
    from scripts.progress import shown_progress

    config = session.config
    lexical = tuple(spec for spec in config.retrievers if not session.retriever(spec).uses_vectors)
    missing = any(not session.store.has(session.score_key(cell)) for cell in session.cells)
    if is_quiet() or not missing or len(lexical) in (0, len(config.retrievers)):
        return
    first = session.with_config(
        config.model_copy(
            update={
                "retrievers": lexical,
                "embedders": config.embedders[:1],
                "spans": (),
                "tools": (),
                "readers": ("chunk",),
            }
        )
    )
    with shown_progress() as progress:
        results = run_experiment(first, executor, progress=progress)
    error_console(100).print(render_table(results))
    note("These need no vectors; the others follow when the texts are embedded.")


def config_of(targets: tuple[Path, ...], annotations: Path | None, options: dict[str, Any]) -> ExperimentConfig:
    """Return the configuration that these arguments describe."""
    from evaluation.config import load_config, make_config
    from evaluation.run_options import RunOptions

    given = {key: value for key, value in options.items() if value not in (None, ())}
    given["run"] = {key: given.pop(key) for key in RunOptions.model_fields if key in given}
    if not targets:
        if annotations:
            raise UsageError(
                "--annotations needs the repository it is about: chunkbench compare REPO --annotations FILE"
            )
        return make_config(given)
    target = targets[0]
    if len(targets) == 1 and target.suffix == ".toml" and not target.is_dir():
        if annotations:
            raise UsageError("an experiment file names its datasets itself: leave --annotations out")
        return load_config(target, **given)
    if "datasets" in given:
        raise UsageError("TARGET and --dataset name two different corpora: give one of them")
    for each in targets:
        if not each.is_dir():
            raise UsageError(f"{each} is neither a folder nor an experiment file (.toml)")
    if annotations and len(targets) > 1:
        raise UsageError("--annotations is about one folder: give the folder that holds the repositories")
    roots = ";".join(map(str, targets))
    spec = f"annotations:path={annotations},root={target}" if annotations else f"mined:root={roots}"
    return make_config({**given, "datasets": (spec,)})


def _slug(config: ExperimentConfig) -> str:
    """Return a folder name that is stable for the same experiment."""
    digest = hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", config.datasets[0].partition(":")[0].rpartition("/")[2])
    return f"{name}-{digest}"


def _print(results: Results, *, wide: bool) -> None:
    from evaluation.report.terminal import render_screen
    from scripts.console import console

    output = console(200 if wide else 100)
    output.print(render_screen(results, wide=wide))
