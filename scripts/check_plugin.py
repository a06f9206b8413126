"""`chunkbench check-plugin`: what a plug-in still lacks to satisfy the contract of its kind."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from evaluation.kinds import KINDS

if TYPE_CHECKING:
    from chunkers.findings import Finding

_EXAMPLES = """\b
Examples:
  chunkbench check-plugin chunker my_chunker.py:Paragraphs,blank=2
  chunkbench check-plugin retriever my_package.search:Grep
  chunkbench check-plugin measure ndcg@10 --json
"""


@click.command(epilog=_EXAMPLES)
@click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
@click.argument("spec")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every rule.")
def command(*, kind: str, spec: str, as_json: bool) -> None:
    """Check the plug-in SPEC against the contract of KIND; exit 1 if it violates a rule, 2 if it cannot be created.

    KIND is chunker, embedder, retriever, reader, dataset or measure.
    """
    findings = _check(kind, spec)
    broken = [finding for finding in findings if finding.problem]
    if as_json:
        rules = [{"rule": each.rule, "kept": not each.problem, "problem": each.problem} for each in findings]
        record = {"kind": kind, "spec": spec, "kept": not broken, "rules": rules}
        click.echo(json.dumps(record, indent=1, ensure_ascii=False))
    else:
        for each in findings:
            click.echo(f"✗ {each.rule}\n    {each.problem}" if each.problem else f"✓ {each.rule}")
        click.echo(f"{spec} keeps {len(findings) - len(broken)} of {len(findings)} rules.")
    sys.exit(1 if broken else 0)


def _check(kind: str, spec: str) -> Sequence[Finding]:
    if kind == "chunker":
        from chunkers.contract import check_chunker
        from chunkers.registry import CHUNKERS

        return check_chunker(CHUNKERS.create(spec))
    if kind == "embedder":
        from indexing.contract import check_embedder
        from indexing.registry import ENCODERS

        return check_embedder(ENCODERS.create(spec))
    if kind == "retriever":
        from indexing.contract import check_retriever
        from indexing.registry import RETRIEVERS

        return check_retriever(RETRIEVERS.create(spec))
    if kind == "reader":
        from indexing.readers.contract import check_reader
        from indexing.readers.registry import READERS

        return check_reader(READERS.create(spec))
    if kind == "dataset":
        from ground_truth.contract import check_dataset
        from ground_truth.registry import DATASETS

        return check_dataset(DATASETS.create(spec))
    from evaluation.measures.contract import check_measure
    from evaluation.measures.registry import parse_measure

    return check_measure(parse_measure(spec))
