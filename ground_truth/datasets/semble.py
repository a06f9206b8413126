"""semble's benchmark: questions about 63 repositories in 19 languages, answered by files and, for some, lines."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Folder, Skipped, walk
from ground_truth.archives import unpacked
from ground_truth.below import folder_below
from ground_truth.git import is_git, resolve_commit
from ground_truth.git_snapshot import GitSnapshot, take_snapshot
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.selection import choose_rows
from ground_truth.types import Annotation, Dataset, Query

CATEGORIES = ("semantic", "architecture", "symbol")
# What its indexer ignored for the published figures.
_NOT_INDEXED = (".cc", ".inc", ".bats", ".rake", ".pyx", ".pxd", ".zsh", ".pl")
_NOT_ENTERED = {"dist", "build"}


class Target(NamedTuple):
    """A file, or lines of it, that answers; paths of the published annotations may lack their leading folders."""

    path: str
    lines: tuple[int, int] | None
    primary: bool


class Question(NamedTuple):
    """One row of an annotation file."""

    id: str
    where: str
    repo: str
    text: str
    category: str
    targets: tuple[Target, ...]


class _Place(NamedTuple):
    """Where a repository's files are: a folder or clone, the pinned commit, and the indexed part."""

    folder: Path
    revision: str
    root: str


@dataclass(frozen=True, kw_only=True)
class Semble:
    """Its `benchmarks` folder (annotations/, repos.json) with checkouts, or queries.jsonl with repositories."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= its folder (annotations/ and repos.json, or queries.jsonl), repos= the checkouts"

    path: str
    repos: str = ""
    """The folder with one checkout or clone per repository; the default is `repositories` (or its archive) in path."""
    corpus: Literal["all", "semble"] = "all"
    """`semble` leaves out what its own indexer ignored for the published figures: some extensions, dist, build."""
    secondary: Literal["same", "lower", "none"] = "same"
    """Grade of secondary targets: that of primary ones, as semble scores; half of it; or left out."""
    repositories: str = "all"
    """`all`, or names separated by commas."""
    limit: int | None = None
    """At most this many questions per repository, in file order."""
    problems: Policy = "error"
    """Whether a question whose repository or target is missing stops the loading."""

    def __post_init__(self) -> None:
        if self.limit is not None:
            positive(self, "limit")

    def load(self) -> Dataset:
        """Return the dataset; a target without lines is its whole file."""
        home = Path(self.path).expanduser()
        rows = choose_rows(list(read_questions(home)), self.repositories, limit=self.limit, path=self.path)
        places = self._places(home, sorted({row.repo for row in rows}))
        skips, targets = Skips(self.problems), Counter[str]()
        folders: dict[str, Folder | GitSnapshot] = {}
        queries: list[Query] = []
        notes: list[Annotation] = []
        for repo, group in _grouped(rows).items():
            with skips.row(of=len(group)):
                folders[repo] = self._open(places.get(repo), repo, group)
            for row in group if repo in folders else ():
                with skips.row():
                    gold = self._gold(row, folders[repo])
                    notes += gold
                    targets.update("lines" if target.lines else "whole files" for target, _ in self._answers(row))
                    queries.append(Query(row.id, row.text, repo, category=row.category))
        if not queries:
            raise UsageError(f"{self.path}: none of {len(rows)} questions can be used: {skips}")
        used = {query.repo for query in queries}
        return Dataset(
            name="semble",
            repositories=tuple(folder for name, folder in folders.items() if name in used),
            queries=tuple(queries),
            annotations=tuple(notes),
            details={
                "rows": len(rows),
                "used": len(queries),
                "skipped": skips.counts,
                "categories": dict(Counter(query.category for query in queries)),
                "targets": dict(targets),
                "corpus": self.corpus,
            },
        )

    def _places(self, home: Path, names: Sequence[str]) -> dict[str, _Place]:
        """Return the path of each available repository."""
        root = Path(self.repos).expanduser() if self.repos else _repositories(home)
        listed = {record.text("name"): record for record in _repository_list(home)}
        found = {}
        for name in names:
            fields: Mapping[str, Any] = listed[name].fields if name in listed else {}
            folder = folder_below(root, name) or folder_below(root, f"{name}.git")
            if folder is not None:
                found[name] = _Place(
                    folder, str(fields.get("revision") or ""), str(fields.get("benchmark_root") or "").strip("/.")
                )
        return found

    def _open(self, place: _Place | None, repo: str, rows: Sequence[Question]) -> Folder | GitSnapshot:
        where = rows[0].where
        if place is None:
            raise RowProblemError(where, "no checkout", f"{repo} is not there: write repos= the folder that holds it")
        keep = {target.path for row in rows for target in row.targets}
        keep |= {f"{place.root}/{path}" for path in keep} if place.root else set()
        whole: Folder | GitSnapshot
        if place.revision and is_git(place.folder):
            if resolve_commit(place.folder, place.revision) is None:
                raise RowProblemError(where, "commit not in the clone", f"{place.folder} has no {place.revision}")
            whole = take_snapshot(place.folder, place.revision, name=repo, keep=keep, missing=self.problems)
        else:
            whole = walk(place.folder, name=repo, keep=keep)
        return self._restricted(whole, place.root, keep)

    def _restricted(self, whole: Folder | GitSnapshot, root: str, keep: set[str]) -> Folder | GitSnapshot:
        """Return the files below the benchmark's root that are to be indexed."""

        def reason(path: str) -> str:
            if root and not path.startswith(root + "/"):
                return "outside the benchmark's root"
            *folders, name = path.split("/")
            left_out = name.endswith(_NOT_INDEXED) or _NOT_ENTERED.intersection(folders)
            return "not indexed by semble" if self.corpus == "semble" and left_out and path not in keep else ""

        if isinstance(whole, GitSnapshot):
            skipped = [Skipped(blob.path, why) for blob in whole.blobs if (why := reason(blob.path))]
            blobs = tuple(blob for blob in whole.blobs if not reason(blob.path))
            return dataclasses.replace(whole, blobs=blobs, skipped_paths=(*whole.skipped_paths, *skipped))
        skipped = [Skipped(path, why) for path in whole.paths if (why := reason(path))]
        paths = tuple(path for path in whole.paths if not reason(path))
        return dataclasses.replace(whole, paths=paths, skipped=(*whole.skipped, *skipped))

    def _gold(self, row: Question, folder: Folder | GitSnapshot) -> list[Annotation]:
        notes: dict[tuple[str, int, int], Annotation] = {}
        for target, grade in self._answers(row):
            path = _resolved(row, target.path, folder)
            first, last = _lines(row, target, path, folder)
            notes.setdefault((path, first, last), Annotation(row.id, row.repo, path, first, last, grade))
        return list(notes.values())

    def _answers(self, row: Question) -> list[tuple[Target, float]]:
        """Return the targets that count as answers, with their grades."""
        secondary = {"same": 1.0, "lower": 0.5, "none": 0.0}[self.secondary]
        graded = [(target, 1.0 if target.primary else secondary) for target in row.targets]
        return [(target, grade) for target, grade in graded if grade]


def read_questions(home: Path) -> Iterator[Question]:
    """Yield the questions of queries.jsonl, or of annotations/REPOSITORY.json, as in semble's repository."""
    if (home / "queries.jsonl").is_file():
        for record in read_records(home / "queries.jsonl"):
            yield _question(record, record.text("repo"), record.text("query_id"))
        return
    files = sorted((home / "annotations").glob("*.json"))
    if not files:
        raise UsageError(f"{home} has neither queries.jsonl nor annotations/*.json: give semble's benchmarks folder")
    for file in files:
        for number, record in enumerate(read_records(file), 1):
            yield _question(record, file.stem, f"{file.stem}-{number}")


def _question(record: Record, repo: str, name: str) -> Question:
    category = record.text("category")
    if category not in CATEGORIES:
        raise UsageError(f"{record.where}: category is {category!r}: {', '.join(CATEGORIES)} were expected")
    targets = [
        _target(record, value, primary=field == "relevant")
        for field in ("relevant", "secondary")
        for value in _list(record, field)
    ]
    if not any(target.primary for target in targets):
        raise UsageError(f"{record.where}: relevant is empty: at least one path was expected")
    return Question("_".join(name.split()), record.where, repo, record.text("query"), category, tuple(targets))


def _list(record: Record, field: str) -> list[Any]:
    value = record.fields.get(field, [] if field == "secondary" else None)
    if not isinstance(value, list):
        raise UsageError(f"{record.where}: {field} is {str(value)[:60]!r}: a list of paths was expected")
    return value


def _target(record: Record, value: object, *, primary: bool) -> Target:
    fields = {"path": value} if isinstance(value, str) else value
    one = Record(record.where, fields if isinstance(fields, dict) else {"path": fields})
    if one.fields.get("start_line") is None:
        return Target(one.text("path").removeprefix("./"), None, primary)
    return Target(one.text("path").removeprefix("./"), (one.number("start_line"), one.number("end_line")), primary)


def _repository_list(home: Path) -> Iterator[Record]:
    if (home / "repos.json").is_file():
        yield from read_records(home / "repos.json")


def _repositories(home: Path) -> Path:
    if (home / "repositories").is_dir():
        return home / "repositories"
    for archive in sorted(home.glob("repositories.tar*")):
        root = unpacked(archive)
        return root / "repositories" if (root / "repositories").is_dir() else root
    return home


def _grouped(rows: Sequence[Question]) -> dict[str, list[Question]]:
    groups: dict[str, list[Question]] = {}
    for row in rows:
        groups.setdefault(row.repo, []).append(row)
    return groups


def _resolved(row: Question, path: str, folder: Folder | GitSnapshot) -> str:
    """Return the one file named by the target's path, in full or by its end."""
    if folder.read(path) is not None:
        return path
    paths = folder.paths if isinstance(folder, Folder) else [blob.path for blob in folder.blobs]
    fitting = [known for known in paths if known.endswith("/" + path)]
    if not fitting:
        raise RowProblemError(row.where, "target not in the repository", f"{path} is not in {row.repo}")
    if len(fitting) > 1:
        raise RowProblemError(row.where, "ambiguous target", f"{path} is {fitting[0]} or {fitting[1]}")
    return fitting[0]


def _lines(row: Question, target: Target, path: str, folder: Folder | GitSnapshot) -> tuple[int, int]:
    source = folder.read(path)
    count = FileLines.of(source.data).count if source else 0
    first, last = target.lines or (1, count)
    if not 1 <= first <= last <= count:
        raise RowProblemError(row.where, "lines outside the file", f"{path} has {count} lines, not {first}-{last}")
    return first, last
