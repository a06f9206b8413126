"""Output of span run scores by `chunkbench score --spans`."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from chunkers.plain_text import csv_cell

if TYPE_CHECKING:
    from evaluation.results.types import CellRecord, Results


def print_span_scores(results: Results, *, show: str, per_query: bool, quiet: bool) -> None:
    """Print the scores of every run: a table, ``json`` or ``csv``."""
    if show == "json":
        click.echo(json.dumps(_record(results), indent=2, allow_nan=False, ensure_ascii=False))
    elif show == "csv":
        _write_csv(results)
    else:
        _show(results, per_query=per_query, quiet=quiet)


def _record(results: Results) -> dict[str, Any]:
    """Return one run's scores at the top level; several are under ``runs``, with the comparisons between them."""
    from evaluation.results.document import best_row, comparison_row

    runs = {cell.key.chunker: _run(results, cell) for cell in results.cells}
    shared = {
        "dataset": results.datasets[0].name,
        "weight": results.config.weight,
        "chance": dict(results.cells[0].judgements.chance),
    }
    if len(runs) == 1:
        name, only = next(iter(runs.items()))
        return {"run": name, **only, **shared}
    return {
        "runs": runs,
        "comparisons": [comparison_row(each) for each in results.comparisons],
        "best": [best_row(each) for each in results.best],
        **shared,
    }


def _run(results: Results, cell: CellRecord) -> dict[str, Any]:
    from evaluation.results.document import json_number

    queries = results.queries_of(cell.key.dataset)
    return {
        "mean": {name: summary.mean for name, summary in cell.measures.items()},
        "per_query": {
            query.id: {name: json_number(float(values[place])) for name, values in cell.scores.items()}
            for place, query in enumerate(queries)
        },
        "n_total": len(queries),
        "n_missing": int(cell.search.diagnostics.get("queries_without_places", 0)),
        "n_uncovered": cell.judgements.uncovered_queries,
        "summary": {name: asdict(summary) for name, summary in cell.measures.items()},
        "tokens_at": dict(cell.judgements.tokens_at),
    }


def _write_csv(results: Results) -> None:
    from evaluation.results.document import json_number

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["run", "query", *(results.cells[0].scores if results.cells else ())])
    for cell in results.cells:
        name = csv_cell(cell.key.chunker)
        for place, query in enumerate(results.queries_of(cell.key.dataset)):
            values = (json_number(float(column[place])) for column in cell.scores.values())
            writer.writerow([name, csv_cell(query.id), *values])
        writer.writerow([name, "all", *(summary.mean for summary in cell.measures.values())])


def _show(results: Results, *, per_query: bool, quiet: bool) -> None:
    from rich.table import Table

    from evaluation.report.formats import score, span
    from evaluation.report.verdict import verdict
    from scripts.console import console

    output = console(10_000)
    if per_query:
        table = Table("run", "query", *(results.cells[0].scores if results.cells else ()))
        for cell in results.cells:
            for place, query in enumerate(results.queries_of(cell.key.dataset)):
                values = (score(name, float(column[place])) for name, column in cell.scores.items())
                table.add_row(cell.key.chunker, query.id, *values)
        output.print(table)
    for cell in results.cells:
        # The name of a run is a heading: as a column it would leave no room for those of the measures.
        output.print(cell.key.chunker)
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("measure", no_wrap=True)
        for heading in ("mean", "95 %", "chance", "median", "queries", "undefined"):
            table.add_column(heading, justify="right")
        for name, summary in cell.measures.items():
            centre, low = score(name, summary.mean), span(name, summary.low, summary.high)
            counts = (str(summary.scored + summary.undefined), str(summary.undefined))
            levels = (score(name, cell.judgements.chance.get(name)), score(name, summary.median))
            table.add_row(name, centre, low, *levels, *counts)
        output.print(table)
        output.print()
    if quiet:
        return
    if results.cells[0].judgements.chance:
        output.print("chance: a random ranking of the same files in windows of 50 lines")
    for cell in results.cells:
        empty = int(cell.search.diagnostics.get("queries_without_places", 0))
        output.print(f"{cell.key.chunker}: {empty} of {len(results.queries)} queries have no places (scored 0)")
    if len(results.cells) > 1 and results.config.headline in results.cells[0].scores:
        console(100).print(verdict(results), markup=False, highlight=False)
