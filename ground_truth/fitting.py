"""Checks annotation rows against a repository: whether their lines exist, and where they are now."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from chunkers.nearest import nearest
from chunkers.sources import Repository
from ground_truth.anchors import Followed, Follower, Marked, anchor_text, anchor_within
from ground_truth.annotations import AnnotationRow, Row
from ground_truth.lines import FileLines

Verdict = Literal[
    "fits", "unchanged", "moved", "edited", "gone", "file not in the repository", "lines outside the file"
]
FITTING: frozenset[Verdict] = frozenset({"fits", "unchanged", "moved", "edited"})


class Fit(NamedTuple):
    """A row and what became of its lines; if they were found, ``row`` has their current place."""

    row: Row
    verdict: Verdict
    what: str
    """What does not fit, or where the lines went; empty for a row that fits as it is."""
    remedy: str
    place: Followed | None = None

    @property
    def usable(self) -> bool:
        """Whether the row names existing lines."""
        return self.verdict in FITTING


OldText = Callable[[Row], Marked | None]
"""The text that a row was marked on, from a source other than its own anchor; None if unknown."""


def with_anchor(row: AnnotationRow, data: bytes) -> AnnotationRow:
    """Return the row with the text of its lines, by which they can be found again."""
    text = anchor_text(data, row.start_line, row.end_line)
    return row.model_copy(update={"anchor": text, "within": anchor_within(data, row.start_line) or None})


def fit_rows(rows: Iterable[Row], repository: Repository, *, repo: str, old_text: OldText | None = None) -> list[Fit]:
    """Return each row with its verdict; a row with an anchor is followed, any other must fit as it is."""
    follower, counts = Follower(repository), dict[str, int | None]()
    fits = []
    for row in rows:
        marked = _marked(row.value) or (old_text(row) if old_text is not None else None)
        if marked is not None:
            fits.append(_followed(row, follower.follow(marked), marked))
        else:
            fits.append(_as_it_is(row, repository, repo, counts))
    return fits


def _marked(row: AnnotationRow) -> Marked | None:
    if row.anchor is None:
        return None
    return Marked(row.file, row.start_line, row.end_line, row.anchor, row.within or "")


def _followed(row: Row, place: Followed, marked: Marked) -> Fit:
    was = f"{marked.path}:{marked.first}-{marked.last}"
    now = f"{place.path}:{place.first}-{place.last}"
    if place.fate == "unchanged":
        return Fit(row, "unchanged", "", "", place)
    if place.fate == "gone":
        like = (
            f"the most similar lines are {now} ({place.similarity:.0%})" if place.similarity else "nothing is like it"
        )
        return Fit(
            row, "gone", f"what was at {was} is gone", f"{like}: mark the answer again, or remove the row", place
        )
    update = {"file": place.path, "start_line": place.first, "end_line": place.last}
    moved = Row(row.number, row.value.model_copy(update=update))
    said = f"{was} is now {now}" + (f", {place.similarity:.0%} the same" if place.fate == "edited" else "")
    return Fit(moved, place.fate, said, "", place)


def _as_it_is(row: Row, repository: Repository, repo: str, counts: dict[str, int | None]) -> Fit:
    file, value = row.value.file, row.value
    if file not in counts:
        source = repository.read(file)
        counts[file] = FileLines.of(source.data).count if source else None
    count = counts[file]
    if count is None:
        what = f"{file!r} is not in {repo!r}"
        return Fit(row, "file not in the repository", what, _file_remedy(repository, file))
    if value.end_line > count:
        what = f"lines {value.start_line}-{value.end_line} are outside {file!r}, which has {count} lines"
        return Fit(row, "lines outside the file", what, "correct the lines, or give the commit they were counted at")
    return Fit(row, "fits", "", "")


def _file_remedy(repository: Repository, file: str) -> str:
    reason = next((why for name, why in repository.skipped if file in (name, name + "/") or file.startswith(name)), "")
    if reason:
        return f"it was left out ({reason}); annotate another file"
    paths = [source.path for source in repository.files()]
    same = [path for path in paths if Path(path).name == Path(file).name]
    hint = f" Did you mean {same[0]!r}?" if len(same) == 1 else nearest(file, paths)
    return "write the path below the repository's root." + hint
