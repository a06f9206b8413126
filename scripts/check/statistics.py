"""Simulates data whose truth is known and prints how often the statistics are right."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence

import click

from scripts.check.statistics_power import power_table
from scripts.check.statistics_simulations import (
    coverage_and_level,
    disagreements,
    families,
    hard_cases,
    same_at_the_margin,
)
from scripts.check.statistics_worlds import WORLDS, Line

_FEWER = 8
"""Families of many rows take longer: they get this many times fewer experiments."""


@click.command()
@click.option("--runs", default=2000, show_default=True, help="Simulated experiments per line about two alternatives.")
@click.option("--every", default=1, show_default=True, help="Only every n-th world and family.")
@click.option("--seed", default=0, show_default=True)
@click.option("--power/--no-power", default=True, help="Print the power beside that of all pairs by max-T.")
@click.option("--list", "each", is_flag=True, help="Print each line as it is found, too.")
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(*, runs: int, every: int, seed: int, power: bool, each: bool, as_json: bool) -> None:
    """Check false positives, coverage, family errors, disagreements and wrong answers; 1 where a target is missed."""
    lines = []
    for line in _lines(runs, seed, every):
        lines.append(line)
        if each:
            click.echo(line.text(), err=True)
    table = power_table(max(10, runs // 16), seed) if power else []
    if as_json:
        click.echo(
            json.dumps({"checks": [line._asdict() | {"ok": line.ok} for line in lines], "power": table}, indent=1)
        )
    else:
        click.echo("\n".join(_summary(lines)))
        if table:
            click.echo("\n".join(["", *_powers(table)]))
    if not all(line.ok for line in lines):
        raise SystemExit(1)


def _lines(runs: int, seed: int, every: int) -> Iterator[Line]:
    worlds = WORLDS[::every]
    for world in worlds:
        yield from coverage_and_level(world, runs, seed)
    for world in worlds:
        yield same_at_the_margin(world, runs, seed)
    yield from families(max(10, runs // _FEWER), seed, every=every)
    yield disagreements(max(40, runs // _FEWER), seed)
    yield from hard_cases(runs, seed)


def _summary(lines: Sequence[Line]) -> Iterator[str]:
    """Yield one row per kind of figure: its target, the median and the worst of all worlds, and which one that is."""
    yield "| what | target | worlds | experiments each | missed | median | worst | where |"
    yield "|---|---|---:|---:|---:|---:|---:|---|"
    # Lines without a target each form a row of their own: the worst of them is not what matters.
    kinds = dict.fromkeys((line.what, line.where if line.target == 1 else "") for line in lines)
    for what, alone in kinds:
        found = [line for line in lines if line.what == what and alone in ("", line.where)]
        worst = (min if found[0].at_least else max)(found, key=lambda line: line.found)
        middle = statistics.median(line.found for line in found)
        target = "none" if worst.target == 1 else f"{'≥' if worst.at_least else '≤'} {worst.target:g}"
        missed = sum(not line.ok for line in found)
        yield (
            f"| {what} | {target} | {len(found)} | {worst.runs:,} | {missed} | {middle:.3f} | {worst.found:.3f} "
            f"| {worst.where} |"
        )


def _powers(table: Sequence[dict[str, float]]) -> Iterator[str]:
    yield (
        "| repositories | chunkers | experiments | worse ones that leave the set | by max-T | best ones that leave it |"
    )
    yield "|---:|---:|---:|---:|---:|---:|"
    for row in table:
        yield (
            f"| {row['repositories']} | {row['rows']} | {row['runs']} | {row['best_set']:.2f} | {row['max_t']:.2f} "
            f"| {row['best_excluded']:.3f} |"
        )


if __name__ == "__main__":
    command()
