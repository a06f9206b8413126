"""ContextBench against clones: which rows load, why the others do not, and whether marked lines have their text.

``python -m scripts.check.contextbench --path FILE --repos FOLDER``
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from ground_truth.datasets.contextbench import ContextBench, Marked, read_instances
from scripts.cli import exit_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ground_truth.types import Dataset

_NUMBERED = re.compile(r"\s*\d+\t?")


@click.command()
@click.option("--path", required=True, help="ContextBench's .parquet or .jsonl file.")
@click.option("--repos", required=True, help="Folder with clones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, path: str, repos: str, as_json: bool) -> int:
    """Compare every marked span of the rows that load with its text in the file."""
    dataset = ContextBench(path=path, repos=repos, problems="skip").load()
    verdicts = list(_compared(path, dataset))
    found: dict[str, Any] = {**dataset.details, "text": dict(Counter(kind for kind, _ in verdicts))}
    if as_json:
        click.echo(json.dumps({**found, "other": [where for kind, where in verdicts if kind == "other"]}, indent=1))
        return 0
    for key, value in found.items():
        click.echo(f"{key:<8} {value}")
    for kind, where in verdicts:
        if kind == "other":
            click.echo(f"other text: {where}", err=True)
    return 0


def _compared(path: str, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield for each marked span of a loaded row whether its lines are the published text, and where it is."""
    loaded = {query.id: query.repo for query in dataset.queries}
    repositories = {repository.name: repository for repository in dataset.repositories}
    for row in read_instances(path):
        for marked in row.marked if row.id in loaded else ():
            source = repositories[loaded[row.id]].read(marked.path) if marked.path else None
            where = f"{row.id} {marked.file}:{marked.first}-{marked.last}"
            yield ("outside the repository" if source is None else _verdict(marked, source.data)), where


def _verdict(marked: Marked, data: bytes) -> str:
    """Return whether the lines are the published text, ignoring whitespace and line numbers."""
    if marked.text is None:
        return "no text published"
    lines = data.decode("utf-8", "replace").split("\n")[marked.first - 1 : marked.last]
    wanted = marked.text.split("\n")
    numbered = [_NUMBERED.sub("", line, count=1) for line in wanted]
    here = _bare(lines)
    if here in (_bare(wanted), _bare(numbered)):
        return "same"
    # Some texts were copied by hand, with lines omitted, or added at the end.
    return "same beginning" if here.startswith((_bare(numbered)[:200], _bare(wanted)[:200])) else "other"


def _bare(lines: list[str]) -> str:
    return "".join("".join(lines).split())


if __name__ == "__main__":
    exit_with(command)
