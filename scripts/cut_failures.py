"""The end of a command whose chunkers failed on some files: one line per chunker, and exit code 1."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from chunkers.cut_errors import FailedFiles


def end_with_failures(failed: Mapping[str, FailedFiles]) -> None:
    """Name the files that each chunker failed on and exit with code 1; do nothing if all were cut."""
    some = {spec: files.reasons for spec, files in failed.items() if files.reasons}
    if not some:
        return
    from evaluation.report.formats import plural
    from evaluation.results.facts import ChunkFacts

    for spec, reasons in some.items():
        words = ChunkFacts(failed_files=reasons).failed_words
        click.echo(f"chunkbench: {spec} failed on {plural(len(reasons), 'file')}: {words}", err=True)
    sys.exit(1)
