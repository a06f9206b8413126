"""`chunkbench mine`: queries from a repository that has no labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from chunkers.errors import UsageError
from scripts.verbosity import note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ground_truth.miners.rows import Kind
    from ground_truth.miners.types import Mined

_KINDS = ("docstrings", "comments", "commits")


@click.command()
@click.argument("repository", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    "kinds",
    type=click.Choice([*_KINDS, "all"]),
    multiple=True,
    default=("docstrings",),
    show_default=True,
    help="What asks; may be given more than once.",
)
@click.option("--out", type=click.Path(path_type=Path), help="The annotation file to write; standard output if absent.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most this many queries of a kind."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which queries are drawn when there are more.")
@click.option(
    "--max-files", type=click.IntRange(min=1), default=5, show_default=True, help="commits: most files changed."
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print what was kept and dropped as JSON; without --out, with the rows."
)
def command(
    *,
    repository: Path,
    kinds: tuple[str, ...],
    out: Path | None,
    limit: int,
    seed: int,
    max_files: int,
    force: bool,
    as_json: bool,
) -> None:
    """Mine queries with known answers from a repository, and report what was kept, what was dropped and why.

    docstrings: documentation asks for the definition below or around it. comments: a comment inside a body asks for the
    statements that it introduces. commits: a message asks for the lines that its commit changed.

    \b
    chunkbench mine ~/code/project --kind docstrings --kind comments --out project.jsonl
    chunkbench mine ~/code/project --kind commits --limit 50 --out commits.jsonl
    chunkbench compare --dataset annotations:path=project.jsonl,root=~/code/project
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    from ground_truth.annotations import write_rows
    from ground_truth.miners.rows import mined_rows

    if out is not None and out.exists() and not force:
        raise UsageError(f"{out} exists: choose another file, or replace it with --force")
    rows, found = mined_rows(repository, _chosen(kinds), limit=limit, seed=seed, max_files=max_files)
    if not rows:
        told = "; ".join(f"{kind}: {_summary(kind, mined)}" for kind, mined in found.items())
        raise UsageError(f"{repository} gives no queries. {told}. {_remedy(found)}")
    text = write_rows(rows)
    if out is not None:
        _write(out, text)
    elif not as_json:
        click.echo(text, nl=False)
    if as_json:
        counts = _counts(repository, found, seed)
        if out is None:
            counts["rows"] = [row.model_dump(exclude_defaults=True) for row in rows]
        click.echo(json.dumps(counts, indent=1, ensure_ascii=False))
        return
    for kind, mined in found.items():
        note(f"{kind}: {mined.summary()}")


def _chosen(kinds: tuple[str, ...]) -> tuple[Kind, ...]:
    return cast("tuple[Kind, ...]", tuple(kind for kind in _KINDS if kind in kinds or "all" in kinds))


def _counts(repository: Path, found: Mapping[Kind, Mined], seed: int) -> dict[str, object]:
    about: dict[str, object] = {"repository": repository.resolve().name, "seed": seed}
    if len(found) == 1:
        kind, mined = next(iter(found.items()))
        return {**about, "kind": kind, **mined.counts()}
    return {**about, "kinds": {kind: mined.counts() for kind, mined in found.items()}}


def _summary(kind: Kind, mined: Mined) -> str:
    if kind != "commits" and not mined.languages:
        return "no source file outside tests was seen, in any known language" + (
            f"; dropped: {mined.summary().partition('dropped: ')[2]}" if mined.dropped else ""
        )
    return mined.summary()


def _remedy(found: Mapping[Kind, Mined]) -> str:
    others = [f"--kind {kind}" for kind in _KINDS if kind not in found]
    return f"Try {' or '.join(others)}, or annotate it" if others else "Annotate it"


def _write(out: Path, text: str) -> None:
    from evaluation.atomic import replace_text

    try:
        replace_text(out, text)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from None
