"""`chunkbench list`: what there is to compare, and with what."""

from __future__ import annotations

import json
from typing import Any

import click

_KINDS = ("chunkers", "embedders", "retrievers", "datasets", "measures", "rules")
_ONLY_IN_JSON = {"aliases", "citation", "properties", "direction", "range", "looked"}
"""Columns that would leave no room for the others in a terminal."""


@click.command(epilog="\b\nExamples:\n  chunkbench list chunkers\n  chunkbench list measures --json")
@click.argument("kind", type=click.Choice(_KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with all that is known of each.")
def command(*, kind: str, as_json: bool) -> None:
    """Print every chunker, embedder, retriever, dataset, measure or overlap rule with one line each."""
    rows = _rows(kind)
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    from rich.table import Table

    from scripts.console import console

    table = Table(box=None, pad_edge=False)
    shown = [name for name in rows[0] if name not in _ONLY_IN_JSON]
    for name in shown:
        table.add_column(name, overflow="fold", no_wrap=name == shown[0])
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in shown))
    console(100).print(table, markup=False)


def _rows(kind: str) -> list[dict[str, Any]]:
    if kind == "measures":
        from evaluation.measures.registry import describe_measures

        return [record._asdict() for record in describe_measures()]
    if kind == "datasets":
        from ground_truth.availability import availability

        return [
            {
                "name": row.name,
                "what": row.summary,
                "needs": row.needs,
                "looked": [str(path) for path in row.looked],
                "found": str(row.found) if row.found else None,
            }
            for row in availability()
        ]
    if kind == "rules":
        from ground_truth.rules import describe_rules

        return [{"name": name, "what": what} for name, what in describe_rules().items()]
    return [
        {"name": name, "what": entry.summary, "extra": entry.extra} for name, entry in _registry(kind).entries().items()
    ]


def _registry(kind: str) -> Any:  # noqa: ANN401 - a registry of one of four kinds
    from chunkers.registry import CHUNKERS
    from ground_truth.registry import DATASETS
    from indexing.registry import ENCODERS, RETRIEVERS

    return {"chunkers": CHUNKERS, "embedders": ENCODERS, "retrievers": RETRIEVERS, "datasets": DATASETS}[kind]


def _cell(value: object) -> str:
    return "" if value is None else ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
