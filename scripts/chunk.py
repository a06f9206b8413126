"""`chunkbench chunk`: show where a chunker cuts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkers.cut_errors import FailedFiles
from chunkers.errors import UsageError
from chunkers.plugins import Spec
from chunkers.registry import CHUNKERS
from chunkers.sources import Folder, walk
from chunkers.types import Chunk, Chunker
from scripts.cut_failures import end_with_failures
from scripts.verbosity import note

if TYPE_CHECKING:
    from ground_truth.hidden import HiddenText

_Failed = Mapping[str, FailedFiles]
"""Spec → the files on which its chunker fails."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--chunker", "specs", multiple=True, default=("cast",), show_default=True, help="A spec; twice to compare two."
)
@click.option("--stats", is_flag=True, help="Counts, sizes, fallbacks and throughput instead of chunks.")
@click.option(
    "--match-size", help="Choose each chunker's limit so that chunks have this mean size: nws=1200, tokens=300."
)
@click.option(
    "--hide",
    type=click.Choice(["docstrings", "comments"]),
    help="Mark what an index does not show where queries are made from docstrings, or from comments too.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per chunk (or, with --stats, per chunker).")
def command(
    path: Path, specs: tuple[str, ...], *, stats: bool, match_size: str | None, hide: str | None, as_json: bool
) -> None:
    """Show the chunks of a file, or the chunk sizes of a folder.

    \b
    chunkbench chunk app.py                                         numbered, coloured boundaries
    chunkbench chunk app.py --chunker cast --chunker fixed-lines    side by side
    chunkbench chunk src --stats --chunker cast --chunker fixed-nws sizes, fallbacks, throughput
    chunkbench chunk src --match-size nws=1200 --chunker cast --chunker fixed-lines
    chunkbench chunk src --chunker cast:size=1500 --json            one JSON object per chunk and line
    chunkbench chunk app.py --hide docstrings                       hidden text struck out
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    sizes_only = stats or (path.is_dir() and not as_json)
    if hide and sizes_only:
        raise UsageError("--hide marks text, and sizes show none: name a file, or write --json without --stats")
    chunkers = {spec: CHUNKERS.create(spec) for spec in specs}
    folder = walk(path)
    if not folder.paths:
        raise UsageError(f"{path} holds no source files{_because(folder)}")
    if folder.skipped:
        note(f"{len(folder.skipped)} skipped{_because(folder)}")
    if match_size:
        chunkers = _match(folder, chunkers, match_size)
    failed = {spec: FailedFiles() for spec in chunkers}
    if sizes_only:
        _print_stats(folder, chunkers, failed, as_json=as_json)
    elif as_json:
        _print_chunks(folder, chunkers, failed, _hidden(folder, hide))
    else:
        _print_view(folder, chunkers, failed, _hidden(folder, hide))
    end_with_failures(failed)


def _match(folder: Folder, chunkers: Iterable[str], wanted: str) -> dict[str, Chunker]:
    from chunkers.size_matching import matched, parse_target

    target = parse_target(wanted)
    sources = list(folder.files())
    found = {}
    for spec in chunkers:
        match = matched(spec, sources, target)
        note(f"{spec}: {match.field}={match.chosen} gives a mean of {match.mean:.1f} {target.unit}")
        written = dict(Spec.parse(spec).params) | {match.field: str(match.chosen)}
        found[str(Spec(Spec.parse(spec).name, tuple(written.items())))] = match.chunker
    return found


def _hidden(folder: Folder, hide: str | None) -> HiddenText | None:
    """Return the bytes of each file that are hidden from an index; None if not requested."""
    if hide is None:
        return None
    from ground_truth.hidden import HiddenText, documentation

    return HiddenText(documentation([folder], comments=hide == "comments"))


def _print_chunks(folder: Folder, chunkers: Mapping[str, Chunker], failed: _Failed, hidden: HiddenText | None) -> None:
    for source in folder.files():
        for spec, chunker in chunkers.items():
            which = {"chunker": spec} if len(chunkers) > 1 else {}
            for chunk in failed[spec].chunks(chunker, source):
                click.echo(json.dumps({**which, **_row(chunk), **_hidden_bytes(chunk, hidden)}))


def _hidden_bytes(chunk: Chunk, hidden: HiddenText | None) -> dict[str, object]:
    """Return the hidden bytes of a chunk as [start, end] of its file, if requested."""
    span = chunk.span
    return {} if hidden is None else {"hidden": hidden.within(chunk.repo, chunk.path, span.start_byte, span.end_byte)}


def _print_view(folder: Folder, chunkers: Mapping[str, Chunker], failed: _Failed, hidden: HiddenText | None) -> None:
    from scripts.chunk_view import show_file
    from scripts.console import console

    output = console(120)
    for source in folder.files():
        show_file(output, source, chunkers, failed, hidden=hidden)


def _print_stats(folder: Folder, chunkers: Mapping[str, Chunker], failed: _Failed, *, as_json: bool) -> None:
    from scripts.chunk_view import measure_folder, show_stats
    from scripts.console import console

    measured = measure_folder(folder, chunkers, failed)
    if as_json:
        for one in measured:
            click.echo(json.dumps(one.row()))
        return
    show_stats(console(120), measured)
    for one in measured:
        for reason, count in one.fallbacks.most_common():
            note(f"{one.spec}: {count} files cut by lines: {reason}")


def _because(folder: Folder) -> str:
    reasons = Counter(skipped.reason for skipped in folder.skipped)
    listed = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return f" ({listed})" if listed else ""


def _row(chunk: Chunk) -> dict[str, object]:
    """Return a chunk's JSON row: these keys are a public interface."""
    return {
        "id": chunk.id,
        "path": chunk.path,
        "language": chunk.language,
        **chunk.span._asdict(),
        "text": chunk.text,
        "header": chunk.header,
    }
