"""`chunkbench plan`: what an experiment would do, what is cached, and what changed since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkers.network import offline
from chunkers.tokens import cache_folder

if TYPE_CHECKING:
    from evaluation.experiment import plan


@click.command(
    epilog="\b\nExamples:\n  chunkbench plan ~/src/project\n  chunkbench plan experiment.toml\n"
    "  chunkbench plan experiment.toml --explain cast:size=1500\n  chunkbench plan --json\n"
    "  chunkbench plan --schema > scripts/experiments/experiment.schema.json"
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...", type=click.Path(path_type=Path))
@click.option("--annotations", type=click.Path(path_type=Path), help="Gold lines for TARGET, as for `compare`.")
@click.option("--chunker", "chunkers", multiple=True, metavar="SPEC", help="Chunkers, as for `compare`.")
@click.option("--embedder", "embedders", multiple=True, metavar="SPEC", help="Embedders, as for `compare`.")
@click.option("--retriever", "retrievers", multiple=True, metavar="SPEC", help="Retrievers, as for `compare`.")
@click.option(
    "--explain",
    metavar="CELL",
    help="Say which input of this cell, or of all cells with this spec, changed since the nearest cached one.",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of experiment files, for editors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@offline()
def command(
    *,
    targets: tuple[Path, ...],
    annotations: Path | None,
    explain: str | None,
    schema: bool,
    as_json: bool,
    **options: tuple[str, ...],
) -> None:
    """List the cells of a comparison and estimate what running it would take. TARGET is as in `compare`.

    For repositories that were not compared before, files are chunked now, and a few texts are embedded to measure the
    speed.
    """
    if schema:
        from evaluation.experiment.schema import experiment_schema

        click.echo(json.dumps(experiment_schema(), indent=2, ensure_ascii=False))
        return
    from evaluation.experiment import plan
    from evaluation.experiment.matching import match_sizes
    from evaluation.experiment.offsets import offset_specs, with_offsets
    from evaluation.experiment.session import Session
    from evaluation.experiment.spread_work import spread_work
    from scripts.compare import config_of, executor_of
    from scripts.progress import shown_progress

    config = config_of(targets, annotations, dict(options))
    executor = executor_of(config)
    session = match_sizes(Session.resolve(config, cache_folder()), executor).session
    session = with_offsets(session, offset_specs(session))
    if explain:
        found = {
            " × ".join(cell): list(plan.explain(session, cell)) for cell in plan.find_cells(session.cells, explain)
        }
        if as_json:
            click.echo(json.dumps(found, indent=1, ensure_ascii=False))
            return
        for name, lines in found.items():
            click.echo("\n".join([*([f"{name}:"] if len(found) > 1 else []), *lines]))
        return
    probe = any(target.is_dir() for target in targets)
    with shown_progress() as progress, spread_work(session.store, executor):
        made = plan.make_plan(session, executor, progress=progress, probe=probe)
    if as_json:
        rows = [
            {**each.cell._asdict(), "chunks": each.chunks, "stages": dict(each.states), "reason": each.reason}
            for each in made.cells
        ]
        told = {"texts_to_embed": made.texts, "seconds": made.seconds, "probed_seconds": made.probed}
        click.echo(json.dumps({"cells": rows, **told}, indent=1))
    else:
        _print(made)


def _print(made: plan.Plan) -> None:
    from rich.table import Table

    from scripts.console import PlainConsole

    console = PlainConsole()
    datasets = {each.cell.dataset for each in made.cells}
    first = 1 if len(datasets) == 1 else 0  # a single dataset stands above the table, which is wide enough
    if first:
        console.print(f"dataset: {datasets.pop()}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for name in ("dataset", "chunker", "embedder", "retriever", "chunks", "chunk", "retrieve", "score")[first:]:
        table.add_column(name, justify="right" if name == "chunks" else "left", overflow="fold")
    for each in made.cells:
        table.add_row(*each.cell[first:], f"{each.chunks:,}", *each.states.values())
    console.print(table)
    for each in made.cells:
        if each.reason:
            console.print(f"{each.cell.chunker} cannot chunk {each.cell.dataset}: {each.reason}")
    run = sum("run" in each.states.values() for each in made.cells)
    time = "; no earlier run says how long that takes"
    if made.seconds is not None:
        time = f"; about {made.seconds:,.0f} s on one core at the speed seen so far" if run else ""
    elif made.probed is not None:
        time = f"; embedding them takes about {made.probed / 60:,.1f} min at the speed of a few that were embedded now"
    click.echo(f"\n{run} of {len(made.cells)} cells will run; {made.texts:,} texts to embed{time}.")
