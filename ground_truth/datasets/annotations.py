"""Your own repositories with an annotation file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from chunkers.sources import Repository, unfit_content, walk
from ground_truth.annotations import Problems, Row, annotations_of, queries_of, read_rows
from ground_truth.git import find_clone, is_git
from ground_truth.git_snapshot import take_snapshot
from ground_truth.hidden import documentation
from ground_truth.lines import FileLines
from ground_truth.types import Dataset, HiddenSpan


class _Corpus(NamedTuple):
    """What decides a repository: its name, its commit, and what is hidden in it."""

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

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= the annotation file, root= the folder of the repository or repositories"

    path: str
    root: str = "."

    def load(self) -> Dataset:
        """Return the dataset; all problems of the file are told at once."""
        path, root = Path(self.path).expanduser(), Path(self.root).expanduser()
        if not root.is_dir():
            raise UsageError(f"root {self.root!r} is not a folder: write root=FOLDER with the repository")
        rows = _with_default_repo(read_rows(path), root)
        groups: dict[_Corpus, list[Row]] = {}
        for row in rows:
            groups.setdefault(_Corpus(row.value.repo, row.value.commit, row.value.mask), []).append(row)
        _check_masks(path, groups)
        folders = _folders(root, rows, path)
        repositories = tuple(
            _open(folders[corpus.repo], corpus, group) for corpus, group in sorted(groups.items(), key=str)
        )
        _check_files(path, groups, {repository.name: repository for repository in repositories})
        named = {row.value.query_id: corpus for corpus, group in groups.items() for row in group}
        return Dataset(
            name=path.stem,
            repositories=repositories,
            queries=tuple(
                dataclasses.replace(query, repo=named[query.id].name, group=query.repo) for query in queries_of(rows)
            ),
            annotations=tuple(
                dataclasses.replace(note, repo=named[note.query_id].name) for note in annotations_of(rows)
            ),
            hidden=_hidden(repositories, groups),
            details={
                "file": path.name,
                "skipped_files": sum(len(repository.skipped) for repository in repositories),
                "masked": sorted({corpus.mask for corpus in groups if corpus.mask}),
            },
        )


def _hidden(repositories: Sequence[Repository], groups: Iterable[_Corpus]) -> tuple[HiddenSpan, ...]:
    masks = {corpus.name: corpus.mask for corpus in groups}
    return tuple(
        span
        for repository in repositories
        if (mask := masks[repository.name])
        for span in documentation([repository], comments=mask == "comments")
    )


def _with_default_repo(rows: Sequence[Row], root: Path) -> list[Row]:
    """Give rows that name no repository the name of the folder."""
    name = root.resolve().name or "repository"
    return [row if row.value.repo else Row(row.number, row.value.model_copy(update={"repo": name})) for row in rows]


def _check_masks(path: Path, groups: dict[_Corpus, list[Row]]) -> None:
    """Raise where a repository would have to be indexed both with and without hidden text."""
    first: dict[str, tuple[_Corpus, int]] = {}
    problems = Problems(path)
    for corpus, group in groups.items():
        known, number = first.setdefault(corpus.name, (corpus, group[0].number))
        if known.mask != corpus.mask:
            what = f"mask is {corpus.mask} for {corpus.name!r} but {known.mask} in row {number}"
            problems.add(group[0].number, what, "write the same mask in all rows of a repository")
    problems.check()


def _folders(root: Path, rows: Sequence[Row], path: Path) -> dict[str, Path]:
    """Return where each repository is: below the root by name, or the root itself when there is only one."""
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
    return sum((root / file).is_file() for file in files) >= sum((inner / file).is_file() for file in files)


def _below(root: Path, name: str) -> Path | None:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    plain = root / name
    return plain if plain.is_dir() else find_clone(root, name)


def _open(folder: Path, corpus: _Corpus, rows: Sequence[Row]) -> Repository:
    keep = {row.value.file for row in rows}
    if corpus.commit is None:
        walked = walk(folder, name=corpus.name, keep=keep)
        # The walk does not enter a folder that it leaves out, so what is annotated in there is added here.
        missed = {file for file in keep.difference(walked.paths) if _is_text(folder / file)}
        return dataclasses.replace(walked, paths=tuple(sorted({*walked.paths, *missed})))
    if not is_git(folder):
        raise UsageError(f"{folder} is not a git clone, but rows name a commit: give a clone, or remove commit")
    return take_snapshot(folder, corpus.commit, name=corpus.name, keep=keep)


def _is_text(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and not unfit_content(file.name, file.read_bytes(), wanted=True)


def _check_files(path: Path, groups: dict[_Corpus, list[Row]], repositories: dict[str, Repository]) -> None:
    """Raise with all rows whose file or lines are not there."""
    problems = Problems(path)
    known: dict[tuple[str, str], int | None] = {}
    for corpus, group in groups.items():
        repository = repositories[corpus.name]
        for number, row in group:
            key = (corpus.name, row.file)
            if key not in known:
                source = repository.read(row.file)
                known[key] = FileLines.of(source.data).count if source else None
            count = known[key]
            if count is None:
                problems.add(number, f"{row.file!r} is not in {corpus.repo!r}", _file_remedy(repository, row.file))
            elif row.end_line > count:
                what = f"lines {row.start_line}-{row.end_line} are outside {row.file!r}, which has {count} lines"
                problems.add(number, what, "correct the lines, or give the commit they were counted at")
    problems.check()


def _file_remedy(repository: Repository, file: str) -> str:
    reason = next((why for name, why in repository.skipped if file in (name, name + "/") or file.startswith(name)), "")
    if reason:
        return f"it was left out ({reason}); annotate another file"
    paths = [source.path for source in repository.files()]
    return "write the path below the repository's root." + nearest(file, paths)
