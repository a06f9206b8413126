"""CodeSearchNet's human judgements: 99 queries, six languages, graded 0 to 3 by several annotators."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.sources import Repository
from ground_truth.clones import open_commit, read_gold
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.types import Annotation, Dataset, Query

Language = Literal["Python", "Java", "JavaScript", "Ruby", "PHP", "Go"]
_URL = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/([0-9a-f]{40})/(.+)#L(\d{1,9})(?:-L(\d{1,9}))?\Z")
_CORPUS = "codesearchnet"
"""All repositories are searched together: one corpus, so one unit."""
_COLUMNS = {"Language", "Query", "GitHubUrl", "Relevance"}


class Place(NamedTuple):
    """The place a judgement is about."""

    repo: str
    commit: str
    path: str
    first: int
    last: int


class Judged(NamedTuple):
    """A query's mean grade for one place, over its annotators."""

    language: str
    query: str
    place: Place
    grade: float
    annotators: int


@dataclass(frozen=True, kw_only=True)
class CodeSearchNet:
    """The annotation store (CSV) of CodeSearchNet, with the judged repositories from local clones."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= annotationStore.csv, repos= a folder with clones of what it judges"

    path: str
    """annotationStore.csv"""
    repos: str
    """The folder with clones or bare mirrors, named owner/name, owner__name or name."""
    language: Language = "Python"
    problems: Policy = "skip"
    """`skip` uses the repositories that are available and counts the rest: few users have all 2,258."""

    def load(self) -> Dataset:
        """Return the judged queries of one language over all its available repositories."""
        judged = [one for one in read_judgements(Path(self.path).expanduser()) if one.language == self.language]
        repositories: dict[str, Repository] = {}
        skips = Skips(self.problems)
        notes: list[Annotation] = []
        texts: dict[str, str] = {}
        by_snapshot: dict[tuple[str, str], list[Judged]] = {}
        for one in judged:
            by_snapshot.setdefault(one.place[:2], []).append(one)
        for (repo, commit), group in sorted(by_snapshot.items()):
            found: list[Annotation] = []
            with skips.row(of=len(group)):
                keep = {one.place.path for one in group}
                root = Path(self.repos).expanduser()
                where = f"{self.path}: {repo} at {commit[:12]}"
                repository = open_commit(root, repo, commit, where=where, keep=keep, problems=self.problems)
                for one in group:
                    with skips.row():
                        found.append(_note(one, repository))
            if found:
                repositories[repository.name] = repository
                notes += found
                texts.update({_slug(one.query): one.query for one in group})
        used = {note.query_id for note in notes}
        if not notes:
            raise UsageError(
                f"{self.repos} has none of the {len(by_snapshot)} judged {self.language} snapshots: clone some"
            )
        return Dataset(
            name=f"codesearchnet-{self.language.lower()}",
            repositories=tuple(repositories.values()),
            queries=tuple(Query(name, text, "", group=_CORPUS) for name, text in sorted(texts.items()) if name in used),
            annotations=tuple(sorted(notes, key=lambda note: (note.query_id, note.repo, note.path, note.start_line))),
            scope="all",
            details={
                "rows": len(judged),
                "used": len(notes),
                "skipped": skips.counts,
                "note": "only judged places have grades: what else is retrieved is unjudged, not irrelevant",
            },
        )


def _note(one: Judged, repository: Repository) -> Annotation:
    place = one.place
    where = f"{repository.name}: {place.path}"
    count = FileLines.of(read_gold(repository, place.path, where=where).data).count
    if not 1 <= place.first <= place.last <= count:
        raise RowProblemError(where, "lines outside the file", f"it has {count} lines, not {place.first}-{place.last}")
    return Annotation(_slug(one.query), repository.name, place.path, place.first, place.last, one.grade)


def read_judgements(path: Path) -> list[Judged]:
    """Return one row per language, query and place: the mean over annotators."""
    grades: dict[tuple[str, str, Place], list[float]] = {}
    for language, query, place, grade in _rows(path):
        grades.setdefault((language, query, place), []).append(grade)
    return [Judged(*key, sum(given) / len(given), len(given)) for key, given in grades.items()]


def _rows(path: Path) -> Iterator[tuple[str, str, Place, float]]:
    if not path.is_file():
        raise UsageError(f"{path} is not a file: give CodeSearchNet's annotationStore.csv")
    try:
        yield from _parsed_rows(path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} is not a CSV file in UTF-8 ({error}): is it the right file?") from None


def _parsed_rows(path: Path) -> Iterator[tuple[str, str, Place, float]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not set(reader.fieldnames or ()) >= _COLUMNS:
            raise UsageError(f"{path} lacks columns {', '.join(sorted(_COLUMNS - set(reader.fieldnames or ())))}")
        for row in reader:
            where = f"{path}:{reader.line_num}"
            grade = row["Relevance"] or ""
            if grade not in ("0", "1", "2", "3"):
                raise UsageError(f"{where}: Relevance is {grade[:40]!r}: 0, 1, 2 or 3 was expected")
            yield (
                row["Language"] or "",
                row["Query"] or "",
                parse_url(row["GitHubUrl"] or "", where=where),
                float(grade),
            )


def parse_url(url: str, *, where: str) -> Place:
    """Return the place that a GitHub URL with commit and lines names."""
    match = _URL.match(url)
    if match is None:
        raise UsageError(f"{where}: {url[:200]!r} is no address of lines: …/blob/COMMIT/PATH#Lx-Ly was expected")
    return Place(match[1], match[2], match[3], int(match[4]), int(match[5] or match[4]))


def _slug(query: str) -> str:
    return re.sub(r"\W+", "-", query.strip().lower()).strip("-")
