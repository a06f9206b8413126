"""`chunkbench audit`: the measured properties of each measure, against its declaration."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evaluation.measures.audit import Finding


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
def command(*, as_json: bool) -> None:
    """Check every measure for the properties it declares; exit 1 if one lacks any.

    \b
    ✓ declared and found    · not found    + found, not declared    ✗ declared and not found    blank: cannot be asked
    \b
    chunkbench audit
    chunkbench audit --json
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    from evaluation.measures.audit import PROPERTIES, audit

    findings = audit()
    broken = [finding for finding in findings if finding.broken]
    if as_json:
        record = {
            "properties": PROPERTIES,
            "findings": [finding._asdict() for finding in findings],
            "broken": [finding._asdict() for finding in broken],
        }
        click.echo(json.dumps(record, indent=2))
    else:
        _show(findings, PROPERTIES)
    for finding in broken:
        click.echo(f"{finding.measure} declares {finding.name!r} and does not have it", err=True)
    sys.exit(1 if broken else 0)


def _show(findings: Sequence[Finding], properties: dict[str, str]) -> None:
    rows: dict[str, list[Finding]] = {}
    for finding in findings:
        rows.setdefault(finding.measure, []).append(finding)
    width = max(map(len, rows)) + 1
    for number, (name, meaning) in enumerate(properties.items(), start=1):
        click.echo(f"{number:3} {name:16} {meaning}")
    click.echo("\n" + " " * width + "".join(f"{number:4}" for number in range(1, len(properties) + 1)))
    for measure, cells in rows.items():
        click.echo(f"{measure:{width}}" + "".join(f"{_mark(cell):>4}" for cell in cells))


def _mark(finding: Finding) -> str:
    if finding.declared:
        return "✗" if finding.broken else "✓"
    return {None: " ", True: "+", False: "·"}[finding.holds]
