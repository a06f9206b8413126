"""ContextBench: the issue asks, the context that experts marked answers, over files and lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from chunkers.errors import UsageError
from chunkers.sources import Repository
from ground_truth.git import find_clone
from ground_truth.git_snapshot import take_snapshot
from ground_truth.hub import local_files
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.types import Annotation, Dataset, Query


@dataclass(frozen=True, kw_only=True)
class ContextBench:
    """ContextBench's file (JSON Lines or Parquet) with the repositories at their base commits from local clones."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= its .parquet or .jsonl (or hub:OWNER/NAME@REVISION), repos= a folder with clones"

    path: str
    repos: str
    problems: Literal["error", "skip"] = "error"
    """Whether an instance without clone, commit, file or lines stops the loading."""

    def load(self) -> Dataset:
        """Return the dataset; every marked line is looked for in its file."""
        records = [record for path in local_files(self.path) for record in read_records(path)]
        repositories: dict[str, Repository] = {}
        queries: list[Query] = []
        notes: list[Annotation] = []
        skipped: Counter[str] = Counter()
        for record in records:
            try:
                repository, found = self._instance(record)
            except UsageError as error:
                if self.problems == "error":
                    raise UsageError(f"{error} (or write problems=skip)") from None
                skipped[str(error).split(": ")[1]] += 1
                continue
            repo = record.text("repo")
            repositories.setdefault(repository.name, repository)
            queries.append(
                Query(record.text("instance_id"), record.text("problem_statement"), repository.name, group=repo)
            )
            notes += found
        if not queries:
            raise UsageError(f"{self.path}: no instance can be used: {dict(skipped)}")
        return Dataset(
            name="contextbench",
            repositories=tuple(repositories.values()),
            queries=tuple(queries),
            annotations=tuple(notes),
            details={"instances": len(records), "skipped": dict(skipped)},
        )

    def _instance(self, record: Record) -> tuple[Repository, list[Annotation]]:
        repo, commit = record.text("repo"), record.text("base_commit")
        root = Path(self.repos).expanduser()
        clone = find_clone(root, repo)
        if clone is None:
            raise UsageError(f"{record.where}: no clone: {repo} is not below {root}")
        marked = marked_lines(record)
        name = f"{repo}@{commit[:12]}"
        repository = take_snapshot(clone, commit, name=name, keep={path for path, _, _ in marked})
        notes = []
        for path, first, last in marked:
            source = repository.read(path)
            count = FileLines.of(source.data).count if source else 0
            if not 1 <= first <= last <= count:
                raise UsageError(f"{record.where}: lines outside the file: {path} has {count}, not {first}-{last}")
            notes.append(Annotation(record.text("instance_id"), name, path, first, last))
        return repository, list(dict.fromkeys(notes))


def marked_lines(record: Record) -> list[tuple[str, int, int]]:
    """Return (path, first, last) of the gold context, which is JSON in a text or a list of objects."""
    value = record.fields.get("gold_context")
    try:
        rows = json.loads(value) if isinstance(value, str) else value
    except json.JSONDecodeError as error:
        raise UsageError(f"{record.where}: gold_context is not JSON: {error.msg}") from None
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{record.where}: gold_context is empty: file and lines were expected")
    return [_marked(record.where, row) for row in rows]


def _marked(where: str, row: Any) -> tuple[str, int, int]:  # noqa: ANN401 - a JSON value of any kind
    path = row.get("file", row.get("path")) if isinstance(row, dict) else None
    lines: Sequence[Any] = (row.get("start_line"), row.get("end_line")) if isinstance(row, dict) else ()
    if not isinstance(path, str) or not all(isinstance(line, int) for line in lines):
        raise UsageError(f"{where}: gold_context has {str(row)[:60]!r}: file, start_line and end_line were expected")
    return path.removeprefix("./"), int(lines[0]), int(lines[1])
