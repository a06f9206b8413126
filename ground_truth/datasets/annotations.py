"""Your own repositories with an annotation file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from chunkers.sources import Repository, unfit_content, unfit_size, walk
from ground_truth.anchors import Marked, anchor_text, anchor_within, fates
from ground_truth.annotations import Problems, Row, annotations_of, queries_of, read_rows
from ground_truth.below import file_below, folder_below
from ground_truth.fitting import Fit, fit_rows
from ground_truth.git import find_clone, is_git, resolve_ref
from ground_truth.git_snapshot import GitSnapshot, take_snapshot
from ground_truth.hidden import documentation
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, Skips
from ground_truth.types import Dataset, HiddenSpan


class _Corpus(NamedTuple):
    """What identifies a corpus: the repository's name, its commit, and what is hidden in it."""

    repo: str
    commit: str | None
    mask: str | None

    @property
    def name(self) -> str:
        """The name that queries refer to; snapshots of one repository differ by commit."""
        mark = f"@{self.commit[:12]}" if self.commit else ""
        return f"{self.repo}{mark}"


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """An annotation file (JSON Lines) and the folder of the repository, or of several named as in the file."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "path= the annotation file, root= the folder of the repository or repositories"

    path: str
    root: str = "."
    ref: str | None = None
    """A branch, tag or commit at which the repositories are read, regardless of the commit the rows were marked at."""
    problems: Policy = "error"
    """Whether a duplicate row, or one whose file or lines are gone, stops the loading."""

    def load(self) -> Dataset:
        """Return the dataset; all problems of the file are reported at once.

        The lines of a row are found again if it has an anchor, or names a commit while ``ref`` asks for another.
        """
        path, skips = Path(self.path).expanduser(), Skips(self.problems)
        groups, opened, fits = _read(path, Path(self.root).expanduser(), ref=self.ref, skips=skips)
        usable = _usable(path, fits, skips)
        named = {row.value.query_id: corpus for corpus, group in groups.items() for row in group}
        queries = queries_of(usable)
        used = sorted({named[query.id] for query in queries}, key=str)
        repositories = tuple(opened[corpus] for corpus in used)
        return Dataset(
            name=path.stem,
            repositories=repositories,
            queries=tuple(dataclasses.replace(query, repo=named[query.id].name, group=query.repo) for query in queries),
            annotations=tuple(
                dataclasses.replace(note, repo=named[note.query_id].name) for note in annotations_of(usable)
            ),
            hidden=_hidden(repositories, used),
            details={
                "file": path.name,
                "rows": skips.rows(len(usable)),
                "skipped": skips.counts,
                "skipped_files": sum(len(repository.skipped) for repository in repositories),
                "masked": sorted({corpus.mask for corpus in groups if corpus.mask}),
                **_followed(fits),
            },
        )


class _Read(NamedTuple):
    """An annotation file with its repositories."""

    groups: dict[_Corpus, list[Row]]
    opened: dict[_Corpus, Repository]
    fits: list[Fit]


def fits_of(path: Path, root: Path) -> list[tuple[Fit, Repository]]:
    """Return every row of an annotation file with its verdict and its repository, in file order."""
    read = _read(path, root, ref=None, skips=Skips("error"))
    corpora = {row.number: corpus for corpus, group in read.groups.items() for row in group}
    ordered = sorted(read.fits, key=lambda fit: fit.row.number)
    return [(fit, read.opened[corpora[fit.row.number]]) for fit in ordered]


def _read(path: Path, root: Path, *, ref: str | None, skips: Skips) -> _Read:
    """Return the rows with their repositories, each row's lines located."""
    if not root.is_dir():
        raise UsageError(f"root {str(root)!r} is not a folder: write root=FOLDER with the repository")
    rows = _with_default_repo(read_rows(path, skips=skips), root)
    folders = _folders(root, rows, path)
    marked_at = {row.number: row.value.commit for row in rows}
    if ref is not None:
        rows = [_at(row, resolve_ref(_clone(folders[row.value.repo]), ref)) for row in rows]
    groups: dict[_Corpus, list[Row]] = {}
    for row in rows:
        groups.setdefault(_Corpus(row.value.repo, row.value.commit, row.value.mask), []).append(row)
    _check_masks(path, groups)
    opened = {corpus: _open(folders[corpus.repo], corpus, group) for corpus, group in groups.items()}
    fits: list[Fit] = []
    for corpus, group in groups.items():
        old = _OldTexts(folders[corpus.repo], marked_at, now=corpus.commit)
        fits += fit_rows(group, opened[corpus], repo=corpus.repo, old_text=old)
    return _Read(groups, opened, fits)


class _OldTexts:
    """The texts that rows were marked on, read from their commits."""

    def __init__(self, folder: Path, marked_at: Mapping[int, str | None], *, now: str | None) -> None:
        self._folder, self._marked_at, self._now = folder, marked_at, now
        self._snapshots: dict[str, GitSnapshot] = {}

    def __call__(self, row: Row) -> Marked | None:
        commit, value = self._marked_at[row.number], row.value
        if commit is None or commit == self._now:
            return None
        if commit not in self._snapshots:
            self._snapshots[commit] = take_snapshot(self._folder, commit, name="")
        source = self._snapshots[commit].read(value.file)
        if source is None or value.end_line > FileLines.of(source.data).count:
            return None
        text = anchor_text(source.data, value.start_line, value.end_line)
        within = anchor_within(source.data, value.start_line)
        return Marked(value.file, value.start_line, value.end_line, text, within)


def _at(row: Row, commit: str) -> Row:
    return Row(row.number, row.value.model_copy(update={"commit": commit}))


def _clone(folder: Path) -> Path:
    if not is_git(folder):
        raise UsageError(f"{folder} is not a git clone: leave ref= out to read the folder as it is")
    return folder


def _usable(path: Path, fits: Sequence[Fit], skips: Skips) -> list[Row]:
    """Return the rows whose lines exist, at their current place; raise with all others, or count them."""
    problems = Problems(path, skips)
    for fit in fits:
        if not fit.usable:
            problems.skip(fit.row.number, fit.verdict, fit.what, fit.remedy)
    problems.check()
    usable = sorted((fit.row for fit in fits if fit.usable), key=lambda row: row.number)
    if not usable:
        raise UsageError(f"{path}: none of {len(fits)} rows can be used: {skips}")
    return usable


def _followed(fits: Sequence[Fit]) -> dict[str, Any]:
    """Return the number of rows with each fate, and those to review."""
    followed = [fit for fit in fits if fit.place is not None]
    if not followed:
        return {}
    looked_at = [fit for fit in followed if fit.verdict in ("edited", "gone")]
    return {
        "followed": fates(fit.place for fit in followed if fit.place is not None),
        "not_anchored": len(fits) - len(followed),
        "to_check": [f"row {fit.row.number} ({fit.row.value.query_id}) {fit.verdict}: {fit.what}" for fit in looked_at],
    }


def _hidden(repositories: Sequence[Repository], groups: Iterable[_Corpus]) -> tuple[HiddenSpan, ...]:
    masks = {corpus.name: corpus.mask for corpus in groups}
    return tuple(
        span
        for repository in repositories
        if (mask := masks[repository.name])
        for span in documentation([repository], comments=mask == "comments")
    )


def _with_default_repo(rows: Sequence[Row], root: Path) -> list[Row]:
    """Give rows without a repository the name of the folder."""
    name = root.resolve().name or "repository"
    return [row if row.value.repo else Row(row.number, row.value.model_copy(update={"repo": name})) for row in rows]


def _check_masks(path: Path, groups: dict[_Corpus, list[Row]]) -> None:
    """Raise if a repository would have to be indexed both with and without hidden text."""
    first: dict[str, tuple[_Corpus, int]] = {}
    problems = Problems(path)
    for corpus, group in groups.items():
        known, number = first.setdefault(corpus.name, (corpus, group[0].number))
        if known.mask != corpus.mask:
            what = f"mask is {corpus.mask} for {corpus.name!r} but {known.mask} in row {number}"
            problems.add(group[0].number, what, "write the same mask in all rows of a repository")
    problems.check()


def _folders(root: Path, rows: Sequence[Row], path: Path) -> dict[str, Path]:
    """Return the path of each repository: below the root by name, or the root itself if there is only one."""
    names = {row.value.repo for row in rows}
    found = {name: place for name in names if (place := _below(root, name))}
    if names == found.keys() == {root.resolve().name} and _is_the_repository(root, next(iter(found.values())), rows):
        return dict.fromkeys(names, root)
    missing = sorted(names - found.keys())
    if missing and len(names) == 1:
        return {missing[0]: root}
    if missing:
        hint = nearest(missing[0], [entry.name for entry in root.iterdir()])
        raise UsageError(f"{path}: there is no folder for repo {missing[0]!r} below {root}.{hint}")
    return found


def _is_the_repository(root: Path, inner: Path, rows: Sequence[Row]) -> bool:
    """Return which of two folders of the repository's name is meant: many have a package of their own name."""
    if any(row.value.commit for row in rows):
        return is_git(root)
    files = {row.value.file for row in rows}
    return sum(file_below(root, file) is not None for file in files) >= sum(
        file_below(inner, file) is not None for file in files
    )


def _below(root: Path, name: str) -> Path | None:
    return folder_below(root, name) or find_clone(root, name)


def _open(folder: Path, corpus: _Corpus, rows: Sequence[Row]) -> Repository:
    keep = {row.value.file for row in rows}
    if corpus.commit is None:
        walked = walk(folder, name=corpus.name, keep=keep)
        # The walk skips ignored folders, so annotated files inside them are added here.
        missed = {file for file in keep.difference(walked.paths) if _is_text(folder, file)}
        return dataclasses.replace(walked, paths=tuple(sorted({*walked.paths, *missed})))
    if not is_git(folder):
        raise UsageError(f"{folder} is not a git clone, but rows name a commit: give a clone, or remove commit")
    return take_snapshot(folder, corpus.commit, name=corpus.name, keep=keep)


def _is_text(folder: Path, name: str) -> bool:
    """Return whether there is such a file and it can be read as text; links are not followed anywhere on the path."""
    file = file_below(folder, name)
    if file is None:
        return False
    return not unfit_size(file.stat().st_size, wanted=True) and not unfit_content(name, file.read_bytes(), wanted=True)
