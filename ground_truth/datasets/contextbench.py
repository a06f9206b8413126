"""ContextBench (arXiv 2602.05892): the issue asks; the files and lines marked by experts answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Repository
from ground_truth.clones import open_commit, read_gold
from ground_truth.hub import local_files
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.selection import choose_rows
from ground_truth.types import Annotation, Dataset, Query

COLUMNS = ("instance_id", "repo", "base_commit", "gold_context", "problem_statement")
# The files were marked inside containers: /workspace/OWNER__NAME__VERSION/PATH is PATH of OWNER/NAME.
_CONTAINER = re.compile(r"/workspace/(?P<owner>[^/]+?)__(?P<name>[^/]+)__[^/_]+/(?P<path>.+)\Z")
_ORIGINAL = re.compile(r"(?:instance_)?(?P<owner>[\w.-]+?)__(?P<name>[\w.-]+)-\w+")
# The text form; its heading ends in a full-width colon in the published file.
_BLOCK = re.compile(
    r"^context\d+[:\uff1a][ \t]*\nfile: (?P<file>.+)\nstart_line: (?P<first>\d+)\nend_line: (?P<last>\d+)$",
    re.MULTILINE,
)


class Marked(NamedTuple):
    """Lines that an expert marked, as the file has them."""

    file: str
    first: int
    last: int
    text: str | None = None
    """The text of these lines according to the published file."""

    @property
    def path(self) -> str | None:
        """The path below the repository's root, or None if the file is outside it."""
        if match := _CONTAINER.match(self.file):
            return match["path"]
        return None if self.file.startswith("/") else self.file.removeprefix("./")


class Instance(NamedTuple):
    """One issue and the context marked for it."""

    id: str
    where: str
    repo: str
    commit: str
    issue: str
    marked: tuple[Marked, ...]


@dataclass(frozen=True, kw_only=True)
class ContextBench:
    """ContextBench's file (Parquet or JSON Lines) with the repositories at their base commits from local clones."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "path= its .parquet or .jsonl (or hub:OWNER/NAME@REVISION), repos= a folder with clones"

    path: str
    repos: str
    """The folder with clones or bare mirrors, named owner/name, owner__name or name."""
    repositories: str = "all"
    """`all`, or names (owner/name) separated by commas."""
    limit: int | None = None
    """At most this many instances per repository, in file order."""
    problems: Policy = "error"
    """Whether an instance without clone, commit, file or lines stops the loading."""

    def __post_init__(self) -> None:
        if self.limit is not None:
            positive(self, "limit")

    def load(self) -> Dataset:
        """Return the dataset; every marked line is checked against its file."""
        rows = choose_rows(read_instances(self.path), self.repositories, limit=self.limit, path=self.path)
        repositories: dict[str, Repository] = {}
        queries: dict[str, Query] = {}
        notes: list[Annotation] = []
        skips, spans = Skips(self.problems), Counter[str]()
        for row in rows:
            with skips.row():
                if row.id in queries:
                    raise RowProblemError(row.where, "duplicate row", f"{row.id} is there twice: remove one")
                repository, gold = self._gold(row, spans)
                repositories.setdefault(repository.name, repository)
                queries[row.id] = Query(row.id, row.issue, repository.name, group=row.repo)
                notes += gold
        if not queries:
            raise UsageError(f"{self.path}: none of {len(rows)} instances can be used: {skips}")
        return Dataset(
            name="contextbench",
            repositories=tuple(repositories.values()),
            queries=tuple(queries.values()),
            annotations=tuple(notes),
            details={"rows": len(rows), "used": len(queries), "skipped": skips.counts, "spans": dict(spans)},
        )

    def _gold(self, row: Instance, spans: Counter[str]) -> tuple[Repository, list[Annotation]]:
        """Return the snapshot and its gold; ``spans`` counts what became of each marked span."""
        keep = {path for marked in row.marked if (path := marked.path)}
        root = Path(self.repos).expanduser()
        repository = open_commit(root, row.repo, row.commit, where=row.where, keep=keep, problems=self.problems)
        notes: dict[Annotation, None] = {}
        for marked in row.marked:
            note = self._note(row, marked, repository, spans)
            if note is not None:
                spans["used" if note not in notes else "duplicate in its row"] += 1
                notes[note] = None
        if not notes:
            raise RowProblemError(row.where, "no gold in the repository", f"{row.id} marks nothing that is there")
        return repository, list(notes)

    def _note(self, row: Instance, marked: Marked, repository: Repository, spans: Counter[str]) -> Annotation | None:
        """Return one span as an annotation, or None if it is left out and counted."""
        if marked.path is None:
            # A scratch file of the annotator's container is in no commit, so it can never be retrieved.
            problem = RowProblemError(row.where, "file outside the repository", marked.file)
            if self.problems == "error":
                Skips("error").note(problem)
            spans[problem.reason] += 1
            return None
        source = read_gold(repository, marked.path, where=row.where)
        count, last = FileLines.of(source.data).count, marked.last
        if last == count + 1 and marked.first <= count:
            # An editor shows an empty line after the final line feed, and it was marked with the rest.
            spans["ended one line past the file, shortened"] += 1
            last = count
        if not 1 <= marked.first <= last <= count:
            found = f"{marked.path} has {count} lines, not {marked.first}-{marked.last}"
            raise RowProblemError(row.where, "lines outside the file", found)
        return Annotation(row.id, repository.name, marked.path, marked.first, last)


def read_instances(path: str) -> list[Instance]:
    """Return the instances of a published file; no clone is needed."""
    files = local_files(path)
    return [_instance(record) for file in files for record in read_records(file)]


def _instance(record: Record) -> Instance:
    if absent := [name for name in COLUMNS if name not in record.fields]:
        raise UsageError(
            f"{record.where}: no {', '.join(absent)}: ContextBench's rows have {', '.join(COLUMNS)}; found "
            f"{', '.join(sorted(map(str, record.fields))[:12]) or 'nothing'}"
        )
    marked = tuple(marked_lines(record))
    return Instance(
        record.text("instance_id"),
        record.where,
        _repository(record, marked),
        record.text("base_commit"),
        record.text("problem_statement"),
        marked,
    )


def _repository(record: Record, marked: Iterable[Marked]) -> str:
    """Return owner/name; rows of Multi-SWE-bench have only the name, with the owner in their paths or ids."""
    repo = record.text("repo")
    if "/" in repo:
        return repo
    original = str(record.fields.get("original_inst_id") or "")
    found = [match for one in marked if (match := _CONTAINER.match(one.file))]
    found += [match] if (match := _ORIGINAL.match(original)) else []
    return next((f"{match['owner']}/{repo}" for match in found if match["name"] == repo), repo)


def marked_lines(record: Record) -> list[Marked]:
    """Return the gold context: JSON in a text, the text form (``context0: file: … start_line: …``), or a list."""
    value = record.fields.get("gold_context")
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return _text_form(record.where, value)
    try:
        rows = parse_json(value) if isinstance(value, str) else value
    except ValueError as error:
        raise UsageError(f"{record.where}: gold_context is not JSON: {error}") from None
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{record.where}: gold_context is {str(value)[:40]!r}: a list of files and lines was expected")
    return [_marked(record.where, row) for row in rows]


def _text_form(where: str, text: str) -> list[Marked]:
    found = list(_BLOCK.finditer(text))
    if not found or text[: found[0].start()].strip():
        raise UsageError(
            f"{where}: gold_context begins {text[:40]!r}: a JSON list, or blocks of contextN:, file:, start_line: and "
            "end_line:, were expected"
        )
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        Marked(match["file"].strip(), int(match["first"]), int(match["last"]), text[match.end() : end].strip("\n"))
        for match, end in zip(found, ends, strict=True)
    ]


def _marked(where: str, row: Any) -> Marked:  # noqa: ANN401 - a JSON value of any kind
    path = row.get("file", row.get("path")) if isinstance(row, dict) else None
    lines: Sequence[Any] = (row.get("start_line"), row.get("end_line")) if isinstance(row, dict) else ()
    if not isinstance(path, str) or not all(isinstance(line, int) and not isinstance(line, bool) for line in lines):
        raise UsageError(f"{where}: gold_context has {str(row)[:60]!r}: file, start_line and end_line were expected")
    content = row.get("content")
    return Marked(path, int(lines[0]), int(lines[1]), content if isinstance(content, str) else None)
