"""`chunkbench score`: measures of a TREC run against TREC qrels, or of a span run on a dataset."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from chunkers.errors import UsageError
from chunkers.plain_text import csv_cell
from scripts.report import TESTS

if TYPE_CHECKING:
    from evaluation.trec_scoring import RunScores

DEFAULT = "ndcg@5 ndcg@10 precision@5 precision@10 recall@5 recall@10 mrr map hit@5".split()

_COMMA = re.compile(r",(?![^(]*\))(?!\s*\w+=)")
"""Separator of two measures; not inside brackets, nor before a parameter of a custom measure."""


@click.command()
@click.option("--qrels", type=click.Path(path_type=Path), help="Judgements: query 0 document grade.")
@click.option("--run", type=click.Path(path_type=Path), help="Run: query Q0 document rank score tag.")
@click.option("--spans", multiple=True, metavar="[NAME=]FILE", help="Ranked places in files, as JSON Lines.")
@click.option("--views", multiple=True, metavar="[NAME=]FILE", help="What agents read, in order, as JSON Lines.")
@click.option("--dataset", metavar="SPEC", help="The dataset of --spans and --views; `chunkbench list datasets`.")
@click.option(
    "--weight",
    type=click.Choice(["repository", "query"]),
    help="What counts once in the mean of a span run [repository].",
)
@click.option("--test", type=click.Choice(TESTS), help="The procedure by which several span runs are compared [t].")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a row of --spans and --views.")
@click.option("--measure", "-m", "measures", multiple=True, metavar="M", help="A measure; may be given several times.")
@click.option(
    "-k", "cutoffs", multiple=True, type=click.IntRange(min=1), metavar="K", help="The usual measures at this cutoff."
)
@click.option("--reference", type=click.Path(path_type=Path), help="A run to correlate with, for kendall_tau and rbo.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Score at most N queries: the first judged ones or, of --dataset, a sample.",
)
@click.option("--per-query", is_flag=True, help="Show every query in the table.")
@click.option("--json", "as_json", is_flag=True, help="Means and all queries as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="One row per query and a last row for all of them.")
@click.option("--quiet", is_flag=True, help="Print the scores and nothing else.")
@click.option("--verbose", is_flag=True, help="Name the queries that are missing, not judged or without an answer.")
@click.argument("more", nargs=-1, metavar="[M]...")
def command(
    *,
    qrels: Path | None,
    run: Path | None,
    spans: tuple[str, ...],
    views: tuple[str, ...],
    dataset: str | None,
    weight: Literal["repository", "query"] | None,
    test: Literal["t", "sign-flip"] | None,
    schema: bool,
    measures: tuple[str, ...],
    more: tuple[str, ...],
    cutoffs: tuple[int, ...],
    reference: Path | None,
    limit: int | None,
    per_query: bool,
    as_json: bool,
    as_csv: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Score a TREC run against TREC qrels, both plain or gzip; or what a code search returned on a dataset.

    A judged query missing from the run scores 0 and is counted. Equal scores are ordered by the rank column, then by
    the order of the rows, never by the spelling of the ids. Measures keep the spelling you used.

    \b
    chunkbench score --qrels qrels.txt --run run.txt.gz
    chunkbench score --qrels qrels.txt --run run.txt -m ndcg@10 -m "precision@5(rel>=2)" --json
    chunkbench score --qrels qrels.txt --run run.txt -m mrr,map --csv
    chunkbench score --qrels qrels.txt --run run.txt -k 5 -k 20 --limit 100
    chunkbench score --qrels qrels.txt --run run.txt -m kendall_tau,rbo --reference other.txt
    chunkbench score --spans mine.jsonl --spans theirs.jsonl --dataset installed -m naurc@4000tok
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    if schema:
        from evaluation.spans.rows import json_schema

        click.echo(json.dumps(json_schema(), indent=1))
        return
    from evaluation.config import measures_at
    from evaluation.trec_scoring import score_files

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    if quiet and verbose:
        raise UsageError("--quiet and --verbose exclude each other")
    asked = [name for text in (*measures, *more) for name in _COMMA.split(text)]
    asked += measures_at(cutoffs) if cutoffs else []
    if spans or views or dataset:
        if qrels or run or reference:
            raise UsageError("--spans and --views are scored on --dataset: leave --qrels, --run and --reference out")
        if dataset is None or not (spans or views):
            missing = "--dataset SPEC" if dataset is None else "--spans FILE"
            raise UsageError(f"{missing} is missing: chunkbench score --spans run.jsonl --dataset installed")
        from evaluation.experiment.span_results import DEFAULT as TEXT_MEASURES
        from evaluation.experiment.span_results import score_span_files
        from scripts.score_spans import print_span_scores

        files = [*spans, *views]
        how: dict[str, Any] = {"limit": limit, "weight": weight or "repository", "test": test or "t"}
        scored = score_span_files(files, dataset, asked or TEXT_MEASURES, **how)
        print_span_scores(
            scored, show="json" if as_json else "csv" if as_csv else "table", per_query=per_query, quiet=quiet
        )
        return
    if test is not None:
        raise UsageError("--test is about runs that are compared: give several --spans and --dataset")
    if weight is not None:
        raise UsageError("--weight is about repositories, which a TREC run does not name: give --spans and --dataset")
    if qrels is None or run is None:
        missing = "--qrels" if qrels is None else "--run"
        raise UsageError(f"{missing} is missing: give --qrels and --run, or --spans and --dataset")
    result = score_files(qrels, run, asked or DEFAULT, reference_path=reference, limit=limit)
    if not quiet:
        _remark(result, verbose=verbose)
    if as_json:
        click.echo(json.dumps(_record(result), indent=2, allow_nan=False))
    elif as_csv:
        _write_csv(result)
    else:
        _show(result, per_query=per_query, quiet=quiet)


def _remark(result: RunScores, *, verbose: bool) -> None:
    if result.unjudged:
        click.echo(f"queries of the run without judgements, left out: {len(result.unjudged)}", err=True)
    if verbose:
        for what, queries in (
            ("not judged, left out", result.unjudged),
            ("missing from the run, scored 0", result.missing),
            ("without a relevant document, scored 0", result.uncovered),
        ):
            for query in queries:
                click.echo(f"{query}: {what}", err=True)


def _record(result: RunScores) -> dict[str, Any]:
    return {
        "mean": {name: _plain(summary.mean) for name, summary in result.summary.items()},
        "per_query": {
            query: {name: _plain(value) for name, value in row.items()} for query, row in result.per_query.items()
        },
        "n_total": len(result.per_query),
        "n_missing": len(result.missing),
        "n_uncovered": len(result.uncovered),
        "n_unjudged": len(result.unjudged),
        "missing": result.missing,
        "measures": result.canonical,
        "summary": {
            name: {key: _plain(value) for key, value in asdict(summary).items()}
            for name, summary in result.summary.items()
        },
    }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def _write_csv(result: RunScores) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["query", *result.summary])
    for query, row in result.per_query.items():
        writer.writerow([csv_cell(query), *(_plain(value) for value in row.values())])
    writer.writerow(["all", *(_plain(summary.mean) for summary in result.summary.values())])


def _show(result: RunScores, *, per_query: bool, quiet: bool) -> None:
    from rich.table import Table

    from scripts.console import PlainConsole

    # A table gets the width it needs: truncated to the terminal's, digits would be lost.
    console = PlainConsole(width=10_000)
    if per_query:
        table = Table("query", *result.summary)
        for query, row in result.per_query.items():
            table.add_row(query, *(_digits(value) for value in row.values()))
        console.print(table)
    table = Table("measure", "mean", "median", "queries", "undefined")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, summary in result.summary.items():
        counts = (str(summary.n_total), str(summary.n_undefined))
        table.add_row(name, _digits(summary.mean), _digits(summary.median), *counts)
    console.print(table)
    if quiet:
        return
    console.print(
        f"{len(result.per_query)} judged queries: {len(result.missing)} missing from the run (scored 0), "
        f"{len(result.uncovered)} without a relevant document (scored 0)"
    )


def _digits(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
