"""`chunkbench mine`: queries from a repository that has no labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkers.errors import UsageError

if TYPE_CHECKING:
    from ground_truth.annotations import AnnotationRow
    from ground_truth.miners.types import Mined


@click.command()
@click.argument("repository", type=click.Path(path_type=Path))
@click.option("--kind", type=click.Choice(["docstrings", "commits"]), default="docstrings", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="The annotation file to write; standard output if absent.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most this many queries.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which queries are drawn when there are more.")
@click.option(
    "--max-files", type=click.IntRange(min=1), default=5, show_default=True, help="commits: most files changed."
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what was kept and dropped as JSON.")
def command(
    *, repository: Path, kind: str, out: Path | None, limit: int, seed: int, max_files: int, force: bool, as_json: bool
) -> None:
    """Make queries with known answers from a repository, and say what was kept, dropped and why.

    \b
    chunkbench mine ~/code/project --out project.jsonl
    chunkbench mine ~/code/project --kind commits --limit 50 --out commits.jsonl
    chunkbench compare --dataset annotations:path=project.jsonl,root=~/code/project
    """  # noqa: D301 - \b is click's mark for text that is not to be wrapped
    from ground_truth.annotations import write_rows

    if as_json and out is None:
        raise UsageError("--json prints the counts on standard output: write the rows to a file with --out")
    if out is not None and out.exists() and not force:
        raise UsageError(f"{out} exists: choose another file, or replace it with --force")
    rows, mined = _mine(repository, kind, limit=limit, seed=seed, max_files=max_files)
    if not rows:
        raise UsageError(f"{repository} gives no queries by {kind}: {_told(mined)}")
    text = write_rows(rows)
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(out, text)
    counts = {"repository": repository.resolve().name, "kind": kind, "seed": seed, **mined.counts()}
    if as_json:
        click.echo(json.dumps(counts, indent=1))
    else:
        click.echo(f"{kind}: {_told(mined)}", err=True)


def _mine(repository: Path, kind: str, *, limit: int, seed: int, max_files: int) -> tuple[list[AnnotationRow], Mined]:
    from ground_truth.miners.rows import mined_commit_rows, mined_docstring_rows

    if kind == "commits":
        return mined_commit_rows(repository, limit=limit, seed=seed, max_files=max_files)
    return mined_docstring_rows(repository, limit=limit, seed=seed)


def _write(out: Path, text: str) -> None:
    draft = out.with_name(out.name + ".part")
    try:
        draft.write_text(text, "utf-8")
        draft.replace(out)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from None


def _told(mined: Mined) -> str:
    dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(mined.dropped.items(), key=lambda x: -x[1]))
    return f"{len(mined.queries)} queries kept; dropped: {dropped or 'none'}"
