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
    epilog="\b\nExamples:\n  chunkbench plan experiment.toml\n"
    "  chunkbench plan experiment.toml --explain cast:size=1500\n  chunkbench plan --json\n"
    "  chunkbench plan --schema > scripts/experiments/experiment.schema.json"
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--explain",
    metavar="CELL",
    help="Say which input of this cell, or of all cells with this spec, changed since the nearest cached one.",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of experiment files, for editors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@offline()
def command(*, file: Path | None, explain: str | None, schema: bool, as_json: bool) -> None:
    """List the cells of an experiment FILE, or of the default one, and what running it would take."""
    if schema:
        from evaluation.experiment.schema import experiment_schema

        click.echo(json.dumps(experiment_schema(), indent=2, ensure_ascii=False))
        return
    from evaluation.config import load_config, make_config
    from evaluation.experiment import plan
    from evaluation.experiment.session import Session

    session = Session.resolve(load_config(file) if file else make_config({}), cache_folder())
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
    made = plan.make_plan(session)
    if as_json:
        rows = [
            {**each.cell._asdict(), "chunks": each.chunks, "stages": dict(each.states), "reason": each.reason}
            for each in made.cells
        ]
        click.echo(json.dumps({"cells": rows, "texts_to_embed": made.texts, "seconds": made.seconds}, indent=1))
    else:
        _print(made)


def _print(made: plan.Plan) -> None:
    from rich.table import Table

    from scripts.console import PlainConsole

    table = Table(box=None, pad_edge=False)
    for name in ("dataset", "chunker", "embedder", "retriever", "chunks", "chunk", "retrieve", "score"):
        table.add_column(name, justify="right" if name == "chunks" else "left", overflow="fold")
    for each in made.cells:
        table.add_row(*each.cell, f"{each.chunks:,}", *each.states.values())
    console = PlainConsole()
    console.print(table)
    for each in made.cells:
        if each.reason:
            console.print(f"{each.cell.chunker} cannot chunk {each.cell.dataset}: {each.reason}")
    run = sum("run" in each.states.values() for each in made.cells)
    time = "; no earlier run says how long that takes"
    if made.seconds is not None:
        time = f"; about {made.seconds:,.0f} s on one core at the speed seen so far" if run else ""
    click.echo(f"\n{run} of {len(made.cells)} cells will run; {made.texts:,} texts to embed{time}.")
