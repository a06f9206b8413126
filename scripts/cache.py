"""`chunkbench cache`: shows, verifies, prunes and clears the cache: vectors, and the results of finished stages."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Iterable, Sequence
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
    """The folders of vectors and, unless a folder of vectors was named, of stages and of unpacked archives."""

    vectors: Path
    stages: Store | None = None
    archives: Path | None = None


class _Gone(NamedTuple):
    """What is dropped besides vectors."""

    results: Sequence[Path]
    unfinished: Sequence[Path]
    """Everything that is not a result: abandoned drafts, or those of a run that the user does not want to keep."""
    records: Pruned
    archives: Sequence[Path]
    """Unpacked ones, and those whose unpacking was killed."""


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="A folder of vectors; by default everything that all commands use.",
)
@_AS_JSON
@click.pass_context
def command(ctx: click.Context, folder: Path | None, *, as_json: bool) -> None:
    """Show or maintain the cache: vectors per embedder, results of the stages of experiments, unpacked archives.

    \b
    chunkbench cache                           size and hit rate of each embedder's part
    chunkbench cache verify --repair           read every byte, drop what is damaged
    chunkbench cache prune --days 30           drop what nobody used for 30 days, and repeats
    chunkbench cache clear --encoder NAME      forget one part; without --encoder, all of it
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    from chunkers.tokens import cache_folder
    from evaluation.experiment.store import Store
    from ground_truth.archives import archives_folder

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: name one that holds a cache, or leave --folder out")
    if folder is None and (home := cache_folder()).exists() and not home.is_dir():
        raise UsageError(f"{home} is not a folder: name another in CHUNKBENCH_CACHE")
    everything = _Kept(cache_folder() / "embeddings", Store(cache_folder() / "stages"), archives_folder())
    ctx.obj = _Kept(folder) if folder else everything
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, as_json=as_json)


@command.command()
@_AS_JSON
@click.pass_obj
def show(kept: _Kept, *, as_json: bool) -> None:
    """Show size and hit rate of each embedder's part, size of results and unpacked archives, and what is unfinished."""
    from indexing.cache_upkeep import groups

    folder, stages, archives = kept
    found = groups(folder)
    made: dict[str, list[Path]] = {}
    for entry in stages.folders() if stages else ():
        # Per-file records have one folder for each chunker, for example, after the name of the stage.
        made.setdefault(entry.parent.name.partition("-")[0], []).append(entry)
    unfinished = _unfinished(stages)
    unpacked, unpacking = _unpacked(archives)
    if as_json:
        rows = [{**dataclasses.asdict(group), "hit_rate": group.hit_rate} for group in found]
        results = [{"stage": name, "entries": len(each), "bytes": _bytes(each)} for name, each in made.items()]
        size = sum(group.bytes for group in found)
        left = {"entries": len(unfinished), "bytes": _bytes(unfinished)}
        told = {"folder": str(folder), "parts": rows, "bytes": size, "stages": results, "unfinished": left}
        there = {"entries": len(unpacked), "unfinished": len(unpacking), "bytes": _bytes([*unpacked, *unpacking])}
        _print_json({**told, "archives": there})
        return
    print(f"{folder}: {sum(group.vectors for group in found):,} vectors, {_size(sum(group.bytes for group in found))}")
    for group in found:
        rate = "–" if group.hit_rate is None else f"{group.hit_rate:.1%}"
        print(f"  {group.name}  {group.vectors:,} × {group.dimensions}  {_size(group.bytes)}  hit rate {rate}")
    if stages and made:
        print(f"{stages.root}: {sum(map(len, made.values())):,} results of stages")
        for name, each in made.items():
            print(f"  {name}  {len(each):,}  {_size(_bytes(each))}")
    if stages and unfinished:
        left_bytes = _size(_bytes(unfinished))
        print(f"{stages.root}: {len(unfinished):,} unfinished, under way or left by a kill, {left_bytes}")
    if unpacked or unpacking:
        half = f", {len(unpacking):,} unfinished" if unpacking else ""
        print(f"{archives}: {len(unpacked):,} unpacked archives{half}, {_size(_bytes([*unpacked, *unpacking]))}")


@command.command()
@click.option("--repair", is_flag=True, help="Drop damaged blocks; their texts are embedded again when needed.")
@_AS_JSON
@click.pass_obj
@click.pass_context
def verify(ctx: click.Context, kept: _Kept, *, repair: bool, as_json: bool) -> None:
    """Read every byte and compare it with its checksum; exit code 1 if damage remains."""
    from indexing.cache_upkeep import verify as check

    folder, stages, _ = kept
    found = check(folder, repair=repair)
    damaged = [row for row in found if row.damaged]
    spoiled = stages.damaged() if stages else []
    if repair and stages:
        _drop(stages, spoiled)
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
    """Drop parts, results, per-file records and unpacked archives that were not used for some days, and duplicate rows.

    What killed runs have left is dropped too, except in its first day, when it may still be in use.
    """
    from evaluation.experiment.pack_upkeep import NO_RECORDS, prune_records
    from ground_truth.archive_upkeep import unused as unused_archives
    from indexing.cache_upkeep import prune as drop

    since = int(time.time() - days * _DAY)
    unused = kept.stages.unused(since) if kept.stages else []
    records = prune_records(kept.stages, unused_since=since) if kept.stages else NO_RECORDS
    left = [*kept.stages.abandoned(untouched_since=since), *kept.stages.spoiled()] if kept.stages else []
    archives = unused_archives(kept.archives, since=since) if kept.archives else []
    vectors = drop(kept.vectors, unused_since=since)
    _drop_and_report(kept, vectors, _Gone(unused, left, records, archives), as_json=as_json)


@command.command()
@click.option("--encoder", help="A part's name as `chunkbench cache` shows it; without it, everything.")
@_AS_JSON
@click.pass_obj
def clear(kept: _Kept, *, encoder: str | None, as_json: bool) -> None:
    """Drop the vectors of one part; or all of them, all results of stages, finished or not, and unpacked archives."""
    from evaluation.experiment.pack_upkeep import NO_RECORDS
    from indexing.cache_upkeep import clear as forget

    stages = kept.stages if encoder is None else None
    unpacked, unpacking = _unpacked(kept.archives if encoder is None else None)
    gone = _Gone(stages.folders() if stages else [], _unfinished(stages), NO_RECORDS, [*unpacked, *unpacking])
    _drop_and_report(kept, forget(kept.vectors, encoder=encoder), gone, as_json=as_json)
    if stages:
        stages.tidy()


def _drop_and_report(kept: _Kept, freed: Any, gone: _Gone, *, as_json: bool) -> None:  # noqa: ANN401 - its type is imported when it is used
    """Drop the results of stages, and report what was removed, including vectors and the records of files."""
    from ground_truth.archive_upkeep import remove

    results, unfinished, (records, record_bytes), archives = gone
    size = freed.bytes + _bytes([*results, *unfinished, *archives]) + record_bytes
    if kept.stages:
        _drop(kept.stages, [*results, *unfinished])
    for folder in archives:
        remove(folder)
    if as_json:
        told = {"vectors": freed.vectors, "results": len(results), "unfinished": len(unfinished), "records": records}
        _print_json({**told, "archives": len(archives), "bytes": size})
    else:
        left = f", {len(unfinished):,} unfinished" if unfinished else ""
        left += f", {len(archives):,} unpacked archives" if archives else ""
        print(
            f"dropped {freed.vectors:,} vectors, {len(results):,} results of stages{left} and {records:,} records of "
            f"files, {_size(size)}"
        )


def _unfinished(stages: Store | None) -> list[Path]:
    """Return everything that is not a result of a stage: drafts in progress, and what kills have left."""
    return [*stages.drafts(), *stages.spoiled()] if stages else []


def _unpacked(home: Path | None) -> tuple[list[Path], list[Path]]:
    """Return the folders of unpacked archives, and of those whose unpacking is under way or was killed."""
    from ground_truth.archive_upkeep import archives, drafts

    return (archives(home), drafts(home)) if home else ([], [])


def _drop(stages: Store, entries: Iterable[Path]) -> None:
    for entry in entries:
        stages.remove(entry)


def _bytes(entries: Iterable[Path]) -> int:
    """Return the bytes of all files in these folders; a file just removed by another process counts as none."""
    return sum(_file_bytes(folder, name) for entry in entries for folder, _, names in os.walk(entry) for name in names)


def _file_bytes(folder: str, name: str) -> int:
    try:
        return os.lstat(f"{folder}/{name}").st_size
    except OSError:
        return 0


def _print_json(value: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    print(json.dumps(value, indent=1, ensure_ascii=False))


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
