"""Simulates data whose truth is known and prints how often the statistics are right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import click

from scripts.check.statistics_power import power_table
from scripts.check.statistics_simulations import (
    coverage_and_level,
    disagreements,
    families,
    same_at_the_margin,
    true_best_excluded,
)
from scripts.check.statistics_worlds import WORLDS, Line


class _Share(NamedTuple):
    """How many experiments of each kind are made of the number asked for."""

    pairs: float = 1.0
    families: float = 0.1
    agreement: float = 0.1


@click.command()
@click.option("--runs", default=2000, show_default=True, help="Simulated experiments per line about two alternatives.")
@click.option("--every", default=1, show_default=True, help="Only every n-th world and family.")
@click.option("--seed", default=0, show_default=True)
@click.option("--power/--no-power", default=True, help="Print the power beside that of all pairs by max-T.")
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(*, runs: int, every: int, seed: int, power: bool, as_json: bool) -> None:
    """Check false positives, coverage, family errors, disagreements and wrong answers; 1 where a target is missed."""
    lines = []
    for line in _lines(runs, seed, every):
        lines.append(line)
        if not as_json:
            click.echo(line.text())
    table = power_table(max(10, runs // 20), seed) if power else []
    if as_json:
        click.echo(
            json.dumps({"checks": [line._asdict() | {"ok": line.ok} for line in lines], "power": table}, indent=1)
        )
    elif table:
        click.echo("\nshare of the truly worse that leaves the set of those that may be best")
        for row in table:
            click.echo(
                f"  {row['repositories']:>2} repositories, {row['rows']:>2} rows: {row['best_set']:.2f}; "
                f"all pairs by max-T {row['max_t']:.2f}; true best excluded {row['best_excluded']:.3f}"
            )
    if not all(line.ok for line in lines):
        raise SystemExit(1)


def _lines(runs: int, seed: int, every: int) -> Iterator[Line]:
    share, worlds = _Share(), WORLDS[::every]
    for world in worlds:
        yield from coverage_and_level(world, runs, seed)
    yield from same_at_the_margin(worlds, runs, seed)
    yield from families(max(10, int(runs * share.families)), seed, every=every)
    yield from true_best_excluded(max(10, int(runs * share.families)), seed, every=every)
    yield disagreements(max(40, int(runs * share.agreement)), seed)


if __name__ == "__main__":
    command()
