"""`chunkbench cache`: show, verify, prune and clear the embedding cache."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import click

from chunkers.errors import UsageError

_DAY = 86_400

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--folder", type=click.Path(path_type=Path), help="The cache; by default the one that all commands use.")
@_AS_JSON
@click.pass_context
def command(ctx: click.Context, folder: Path | None, *, as_json: bool) -> None:
    """Show the vectors that are kept, or look after them.

    \b
    chunkbench cache                           size and hit rate of each embedder's part
    chunkbench cache verify --repair           read every byte, drop what is damaged
    chunkbench cache prune --days 30           drop what nobody used for 30 days, and repeats
    chunkbench cache clear --encoder NAME      forget one part; without --encoder, all of it
    """  # noqa: D301 - \b is click's mark for text that is not to be wrapped
    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: name one that holds a cache, or leave --folder out")
    ctx.obj = folder or _default_folder()
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, as_json=as_json)


@command.command()
@_AS_JSON
@click.pass_obj
def show(folder: Path, *, as_json: bool) -> None:
    """Show size and hit rate of each embedder's part."""
    from indexing.cache_upkeep import groups

    found = groups(folder)
    if as_json:
        rows = [{**dataclasses.asdict(group), "hit_rate": group.hit_rate} for group in found]
        _print_json({"folder": str(folder), "parts": rows, "bytes": sum(group.bytes for group in found)})
        return
    print(f"{folder}: {sum(group.vectors for group in found):,} vectors, {_size(sum(group.bytes for group in found))}")
    for group in found:
        rate = "–" if group.hit_rate is None else f"{group.hit_rate:.1%}"
        print(f"  {group.name}  {group.vectors:,} × {group.dimensions}  {_size(group.bytes)}  hit rate {rate}")


@command.command()
@click.option("--repair", is_flag=True, help="Drop damaged blocks; their texts are embedded again when needed.")
@_AS_JSON
@click.pass_obj
@click.pass_context
def verify(ctx: click.Context, folder: Path, *, repair: bool, as_json: bool) -> None:
    """Read every byte and compare it with its checksum; exit code 1 where something is damaged and stays so."""
    from indexing.cache_upkeep import verify as check

    found = check(folder, repair=repair)
    damaged = [row for row in found if row.damaged]
    if as_json:
        _print_json({"folder": str(folder), "shards": [dataclasses.asdict(row) for row in found], "repaired": repair})
    else:
        print(f"{folder}: {sum(row.vectors for row in found):,} sound vectors in {len(found)} shards")
        for row in damaged:
            print(f"  {row.shard}: {'damage dropped' if repair else 'damaged'}, {row.vectors:,} vectors are sound")
    if damaged and not repair:
        ctx.exit(1)


@command.command()
@click.option("--days", type=click.FloatRange(min=0), default=30, show_default=True, help="Unused for so long.")
@_AS_JSON
@click.pass_obj
def prune(folder: Path, *, days: float, as_json: bool) -> None:
    """Drop the parts that nobody used for some days, and rows that are stored twice."""
    from indexing.cache_upkeep import prune as drop

    _print_freed(drop(folder, unused_since=int(time.time() - days * _DAY)), as_json=as_json)


@command.command()
@click.option("--encoder", help="A part's name as `chunkbench cache` shows it; without it, everything.")
@_AS_JSON
@click.pass_obj
def clear(folder: Path, *, encoder: str | None, as_json: bool) -> None:
    """Forget vectors: of one part, or all."""
    from indexing.cache_upkeep import clear as forget

    _print_freed(forget(folder, encoder=encoder), as_json=as_json)


def _default_folder() -> Path:
    from chunkers.tokens import cache_folder

    return cache_folder() / "embeddings"


def _print_freed(freed: Any, *, as_json: bool) -> None:  # noqa: ANN401 - its type is imported when it is used
    if as_json:
        _print_json(dataclasses.asdict(freed))
    else:
        print(f"dropped {freed.vectors:,} vectors, {_size(freed.bytes)}")


def _print_json(value: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    print(json.dumps(value, indent=1, ensure_ascii=False))


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
