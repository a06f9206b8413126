"""`chunkbench list`: the available plug-ins, measures and rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from chunkers.plugins import Parameter

_KINDS = ("chunkers", "embedders", "retrievers", "readers", "datasets", "measures", "rules")
_ONLY_IN_JSON = {
    "aliases",
    "citation",
    "properties",
    "direction",
    "range",
    "unit",
    "comparable",
    "looked",
    "pattern",
    "definition",
    "broken",
    "key",
}
"""Columns that would leave no room for the others in a terminal."""

_WORDY = ("datasets", "measures")
"""Kinds of which each has sentences: columns of a terminal are too narrow for them."""

_LONGEST_DEFAULT = 60


@click.command(epilog="\b\nExamples:\n  chunkbench list chunkers\n  chunkbench list measures --json")
@click.argument("kind", type=click.Choice(_KINDS), metavar="KIND")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with all that is known of each.")
def command(*, kind: str, as_json: bool) -> None:
    """Print every plug-in of a kind, or every overlap rule, with its parameters and defaults.

    KIND is chunkers, embedders, retrievers, readers, datasets, measures or rules.
    """
    rows = _rows(kind)
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    from rich.padding import Padding
    from rich.table import Table

    from scripts.console import console

    output = console(120)
    shown = [name for name in rows[0] if name not in _ONLY_IN_JSON and any(row[name] for row in rows)]
    if kind in _WORDY:
        for row in rows:
            output.print(row["name"])
            for name in shown[1:]:
                if text := _cell(row[name]):
                    output.print(Padding(text if name == "what" else f"{name}: {text}", (0, 0, 0, 4), expand=False))
        return
    table = Table(box=None, pad_edge=False)
    for name in shown:
        table.add_column(name, overflow="fold", no_wrap=name == shown[0])
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in shown))
    output.print(table, markup=False)


def _rows(kind: str) -> list[dict[str, Any]]:
    if kind == "rules":
        from ground_truth.rules import describe_rules

        return [{"name": name, "what": what} for name, what in describe_rules().items()]
    from evaluation.kinds import registry_of

    registry = registry_of(kind.removesuffix("s"))
    extra: Mapping[str, Mapping[str, Any]] = _facts(kind)
    rows = []
    for each in registry.listed():
        parameters = [parameter._asdict() for parameter in each.parameters]
        what = f"broken: {each.broken}" if each.broken else each.summary
        plain = {"name": each.name, "what": what, "parameters": parameters, "extra": each.extra, "broken": each.broken}
        rows.append({**plain, **extra.get(each.name, {})})
    if kind == "measures":
        rows += _levels()
    every = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in every} for row in rows]


def _levels() -> list[dict[str, Any]]:
    from evaluation.measures.registry import describe_levels

    rows = []
    for record in describe_levels():
        each = record._asdict()
        each.pop("key")
        rows.append({"name": each["pattern"], "what": each["definition"], **each})
    return rows


def _facts(kind: str) -> dict[str, dict[str, Any]]:
    """Return the columns specific to this kind of plug-in, by name."""
    if kind == "measures":
        from evaluation.measures.registry import describe_measures

        facts = {}
        for record in describe_measures():
            each = record._asdict()
            facts[each.pop("key")] = {"name": each["pattern"], "what": each["definition"], **each}
        return facts
    if kind == "datasets":
        from ground_truth.availability import availability

        return {
            row.name: {
                "needs": row.needs,
                "looked": [str(path) for path in row.looked],
                "found": str(row.found) if row.found else None,
            }
            for row in availability()
        }
    return {}


def _cell(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_short(str(Parameter(**each)) if isinstance(each, dict) else str(each)) for each in value)
    return "" if value is None else str(value)


def _short(text: str) -> str:
    """Return a parameter; of a list that would fill lines, the beginning: --json has all of it."""
    return text if len(text) <= _LONGEST_DEFAULT else text[: text.rfind(",", 0, _LONGEST_DEFAULT) + 1] + "…"
