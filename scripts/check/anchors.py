"""Marked lines followed over real history, compared with git's own diff of the same lines.

Every definition of an old commit is marked and searched for in a newer one by its text alone. Lines that git's diff
does not touch have one place in the newer file; ``agree`` counts the rows found exactly there.
``python -m scripts.check.anchors CLONE --commits 200``
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from chunkers.definitions import Definitions
from chunkers.errors import UsageError
from ground_truth.anchors import FATES, Followed, Follower, Marked, anchor_text, anchor_within
from ground_truth.git import resolve_ref, revisions
from ground_truth.git_layout import locate
from ground_truth.git_program import read_git
from ground_truth.git_snapshot import GitSnapshot, take_snapshot
from ground_truth.source_paths import is_source
from scripts.cli import exit_with

if TYPE_CHECKING:
    from collections.abc import Iterator

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_OLD_PATH = re.compile(r"^--- a/(.+)$", re.MULTILINE)
_SHORTEST = 3


@click.command()
@click.argument("clone", type=click.Path(path_type=Path))
@click.option("--ref", default="HEAD", show_default=True, help="The newer state.")
@click.option("--commits", default=200, show_default=True, help="How many commits before it the lines were marked.")
@click.option("--rows", default=2000, show_default=True, help="At most this many definitions, drawn at random.")
@click.option("--seed", default=0, show_default=True)
@click.option("--show", default=10, show_default=True, help="Moved rows to print, for reading by eye.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, clone: Path, ref: str, commits: int, rows: int, seed: int, show: int, as_json: bool) -> int:
    """Follow definitions over history and compare with git's diff."""
    new = resolve_ref(clone, ref)
    history = revisions(clone, new)
    if len(history) <= commits:
        raise UsageError(f"{clone} has {len(history)} commits up to {ref}: give a smaller --commits")
    old = history[commits]
    before, after = take_snapshot(clone, old, name="old"), take_snapshot(clone, new, name="new")
    marks = list(_definitions(before))
    random.Random(seed).shuffle(marks)  # noqa: S311 - a sample, not a secret
    follower, diff = Follower(after), _Diff(clone, old, new)
    found = [(marked, follower.follow(marked)) for marked in marks[:rows]]
    counts: Counter[str] = Counter()
    for marked, followed in found:
        counts[f"{followed.fate}, {diff.verdict(marked, followed)}"] += 1
    fates = {fate: sum(followed.fate == fate for _, followed in found) for fate in FATES}
    if as_json:
        click.echo(
            json.dumps({"rows": len(found), "fates": fates, "beside git": dict(sorted(counts.items()))}, indent=1)
        )
        return 0
    click.echo(f"{len(found)} rows over {commits} commits: " + ", ".join(f"{n} {fate}" for fate, n in fates.items()))
    for name, count in sorted(counts.items()):
        click.echo(f"{count:>6}  {name}")
    for marked, followed in [one for one in found if one[1].fate == "moved"][:show]:
        source = after.read(followed.path)
        now = anchor_text(source.data, followed.first, followed.last) if source else ""
        was = f"{marked.path}:{marked.first}-{marked.last}"
        click.echo(
            f"{was} → {followed.path}:{followed.first}-{followed.last}\n    {_line(marked.text)}\n    {_line(now)}"
        )
    return 0


class _Hunk(NamedTuple):
    old: int
    removed: int
    new: int
    added: int


class _Diff:
    """Line numbers of the old commit in the new one, by git's diff of each file."""

    def __init__(self, clone: Path, old: str, new: str) -> None:
        options = ("-r", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
        text = read_git(locate(clone), "diff-tree", *options, old, new, "--").decode("utf-8", "replace")
        self._known: dict[str, list[_Hunk]] = {}
        for part in text.split("\ndiff --git "):
            if path := _OLD_PATH.search(part):
                self._known[path[1]] = [
                    _Hunk(int(match[1]), int(match[2] or 1), int(match[3]), int(match[4] or 1))
                    for match in _HUNK.finditer(part)
                ]

    def verdict(self, marked: Marked, followed: Followed) -> str:
        """Return whether git's diff has the lines where they were found."""
        lines = self._lines(marked)
        if lines is None:
            return "git: changed"
        if (followed.path, followed.first, followed.last) == (marked.path, *lines):
            return "git: agrees"
        return "git: elsewhere"

    def _lines(self, marked: Marked) -> tuple[int, int] | None:
        """Return where untouched lines are now; None if the diff touches them."""
        offset = 0
        for hunk in self._known.get(marked.path, ()):
            # For an empty old side git gives the line before it, also for an empty new side.
            first = hunk.old if hunk.removed else hunk.old + 1
            if first + hunk.removed <= marked.first:
                offset += hunk.added - hunk.removed
            elif first <= marked.last:
                return None
        return marked.first + offset, marked.last + offset


def _definitions(snapshot: GitSnapshot) -> Iterator[Marked]:
    for source in snapshot.files():
        for piece in Definitions().split(source) if is_source(source.path) else ():
            first = source.data.count(b"\n", 0, piece.start) + 1
            text = source.data[piece.start : piece.end].decode("utf-8", "replace").rstrip("\n ")
            last = first + text.count("\n")
            if last - first + 1 >= _SHORTEST:
                marked = anchor_text(source.data, first, last)
                yield Marked(source.path, first, last, marked, anchor_within(source.data, first))


def _line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip(" })]\t")), "")[:100]


if __name__ == "__main__":
    exit_with(command)
