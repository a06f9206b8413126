"""`chunkbench cache`: show, verify, prune and clear what is stored: vectors, and the results of finished stages."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chunkers.errors import UsageError

if TYPE_CHECKING:
    from evaluation.experiment.pack_upkeep import Pruned
    from evaluation.experiment.store import Store

_DAY = 86_400

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class _Kept(NamedTuple):
    """Where vectors are and, unless a folder of vectors was named, the stages."""

    vectors: Path
    stages: Store | None = None


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="A folder of vectors; by default everything that all commands use.",
)
@_AS_JSON
@click.pass_context
def command(ctx: click.Context, folder: Path | None, *, as_json: bool) -> None:
    """Show what is kept, or look after it: vectors per embedder, and what the stages of experiments have made.

    \b
    chunkbench cache                           size and hit rate of each embedder's part
    chunkbench cache verify --repair           read every byte, drop what is damaged
    chunkbench cache prune --days 30           drop what nobody used for 30 days, and repeats
    chunkbench cache clear --encoder NAME      forget one part; without --encoder, all of it
    """  # noqa: D301 - \b is click's mark for text that is not to be wrapped
    from chunkers.tokens import cache_folder
    from evaluation.experiment.store import Store

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: name one that holds a cache, or leave --folder out")
    if folder is None and (home := cache_folder()).exists() and not home.is_dir():
        raise UsageError(f"{home} is not a folder: name another in CHUNKBENCH_CACHE")
    ctx.obj = _Kept(folder) if folder else _Kept(cache_folder() / "embeddings", Store(cache_folder() / "stages"))
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, as_json=as_json)


@command.command()
@_AS_JSON
@click.pass_obj
def show(kept: _Kept, *, as_json: bool) -> None:
    """Show size and hit rate of each embedder's part, and the size of each stage's results."""
    from indexing.cache_upkeep import groups

    folder, stages = kept
    found = groups(folder)
    made: dict[str, list[Path]] = {}
    for entry in stages.folders() if stages else ():
        # What is kept per file has a folder for each chunker, say, behind the name of the stage.
        made.setdefault(entry.parent.name.partition("-")[0], []).append(entry)
    if as_json:
        rows = [{**dataclasses.asdict(group), "hit_rate": group.hit_rate} for group in found]
        results = [{"stage": name, "entries": len(each), "bytes": _bytes(each)} for name, each in made.items()]
        size = sum(group.bytes for group in found)
        _print_json({"folder": str(folder), "parts": rows, "bytes": size, "stages": results})
        return
    print(f"{folder}: {sum(group.vectors for group in found):,} vectors, {_size(sum(group.bytes for group in found))}")
    for group in found:
        rate = "–" if group.hit_rate is None else f"{group.hit_rate:.1%}"
        print(f"  {group.name}  {group.vectors:,} × {group.dimensions}  {_size(group.bytes)}  hit rate {rate}")
    if stages and made:
        print(f"{stages.root}: {sum(map(len, made.values())):,} results of stages")
        for name, each in made.items():
            print(f"  {name}  {len(each):,}  {_size(_bytes(each))}")


@command.command()
@click.option("--repair", is_flag=True, help="Drop damaged blocks; their texts are embedded again when needed.")
@_AS_JSON
@click.pass_obj
@click.pass_context
def verify(ctx: click.Context, kept: _Kept, *, repair: bool, as_json: bool) -> None:
    """Read every byte and compare it with its checksum; exit code 1 where something is damaged and stays so."""
    from indexing.cache_upkeep import verify as check

    folder, stages = kept
    found = check(folder, repair=repair)
    damaged = [row for row in found if row.damaged]
    spoiled = stages.damaged() if stages else []
    if repair:
        _drop(spoiled)
    if as_json:
        shards, results = [dataclasses.asdict(row) for row in found], [str(entry) for entry in spoiled]
        _print_json({"folder": str(folder), "shards": shards, "damaged_results": results, "repaired": repair})
    else:
        print(f"{folder}: {sum(row.vectors for row in found):,} sound vectors in {len(found)} shards")
        for row in damaged:
            print(f"  {row.shard}: {'damage dropped' if repair else 'damaged'}, {row.vectors:,} vectors are sound")
        for entry in spoiled:
            print(f"  {entry}: {'dropped' if repair else 'damaged'}")
    if (damaged or spoiled) and not repair:
        ctx.exit(1)


@command.command()
@click.option("--days", type=click.FloatRange(min=0), default=30, show_default=True, help="Unused for so long.")
@_AS_JSON
@click.pass_obj
def prune(kept: _Kept, *, days: float, as_json: bool) -> None:
    """Drop the parts, results and records of files that nobody used for some days, and rows that are stored twice."""
    from evaluation.experiment.pack_upkeep import NO_RECORDS, prune_records
    from indexing.cache_upkeep import prune as drop

    since = int(time.time() - days * _DAY)
    unused = [entry for entry in (kept.stages.folders() if kept.stages else ()) if entry.stat().st_mtime < since]
    records = prune_records(kept.stages, unused_since=since) if kept.stages else NO_RECORDS
    _drop_and_tell(drop(kept.vectors, unused_since=since), unused, records, as_json=as_json)


@command.command()
@click.option("--encoder", help="A part's name as `chunkbench cache` shows it; without it, everything.")
@_AS_JSON
@click.pass_obj
def clear(kept: _Kept, *, encoder: str | None, as_json: bool) -> None:
    """Forget the vectors of one part; or all of them, and all results of stages."""
    from evaluation.experiment.pack_upkeep import NO_RECORDS
    from indexing.cache_upkeep import clear as forget

    results = kept.stages.folders() if kept.stages and encoder is None else []
    _drop_and_tell(forget(kept.vectors, encoder=encoder), results, NO_RECORDS, as_json=as_json)


def _drop_and_tell(freed: Any, results: list[Path], records: Pruned, *, as_json: bool) -> None:  # noqa: ANN401 - its type is imported when it is used
    """Drop the results of stages, and say what has gone with the vectors and the records of files."""
    size = freed.bytes + _bytes(results) + records.bytes
    _drop(results)
    if as_json:
        told = {"vectors": freed.vectors, "results": len(results), "records": records.records, "bytes": size}
        _print_json(told)
    else:
        print(
            f"dropped {freed.vectors:,} vectors, {len(results):,} results of stages and {records.records:,} records of "
            f"files, {_size(size)}"
        )


def _drop(entries: Iterable[Path]) -> None:
    for entry in entries:
        shutil.rmtree(entry, ignore_errors=True)


def _bytes(entries: Iterable[Path]) -> int:
    return sum(file.stat().st_size for entry in entries for file in entry.iterdir())


def _print_json(value: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    print(json.dumps(value, indent=1, ensure_ascii=False))


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
