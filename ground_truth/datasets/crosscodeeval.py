"""CrossCodeEval: the code before a line asks, the line that completes it answers, in the repository of the task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Folder, Repository, walk
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.types import Annotation, Dataset, Query


class _Task(NamedTuple):
    id: str
    where: str
    repo: str
    path: str
    prompt: str
    truth: str
    line: int
    """Where the completion begins, from 0."""

    @property
    def last(self) -> int:
        """The last line of the completion, from 1."""
        return self.line + 1 + self.truth.rstrip("\n").count("\n")


@dataclass(frozen=True, kw_only=True)
class CrossCodeEval:
    """CrossCodeEval's tasks (line_completion.jsonl) with the repositories of its raw data."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= line_completion.jsonl of a language, root= the folder with the raw repositories"

    path: str
    root: str
    """The folder with one folder per repository, named as in the tasks."""
    query_lines: int = 20
    """The query is this many last lines of the prompt, as in the published retrieval set-up."""
    problems: Literal["error", "skip"] = "error"
    """Whether a task that does not fit its repository stops the loading."""

    def __post_init__(self) -> None:
        positive(self, "query_lines")

    def load(self) -> Dataset:
        """Return the dataset; each completion is looked for in the line that the task names."""
        tasks = [_task(record) for record in read_records(Path(self.path).expanduser())]
        folders: dict[str, Folder] = {}
        keep: dict[str, set[str]] = {}
        for task in tasks:
            keep.setdefault(task.repo, set()).add(task.path)
        skipped: Counter[str] = Counter()
        for name, paths in sorted(keep.items()):
            if (place := Path(self.root).expanduser() / name).is_dir():
                folders[name] = walk(place, name=name, keep=paths)
        good = [task for task in tasks if not self._wrong(task, folders.get(task.repo), skipped)]
        if not good:
            raise UsageError(f"{self.path}: no task fits the repositories below {self.root}: {dict(skipped)}")
        used = {task.repo for task in good}
        return Dataset(
            name="crosscodeeval",
            repositories=tuple(folder for name, folder in folders.items() if name in used),
            queries=tuple(
                Query(task.id, "\n".join(task.prompt.split("\n")[-self.query_lines :]), task.repo, expected=task.truth)
                for task in good
            ),
            annotations=tuple(Annotation(task.id, task.repo, task.path, task.line + 1, task.last) for task in good),
            details={
                "tasks": len(tasks),
                "skipped": dict(skipped),
                "self_retrieval": "the query's lines are in the corpus",
            },
        )

    def _wrong(self, task: _Task, repository: Repository | None, skipped: Counter[str]) -> str:
        """Return why a task cannot be used, noted or raised, or nothing."""
        reason = _misfit(task, repository)
        if reason and self.problems == "error":
            raise UsageError(f"{task.where}: {task.repo}/{task.path}: {reason} (or write problems=skip)")
        if reason:
            skipped[reason] += 1
        return reason


def _misfit(task: _Task, repository: Repository | None) -> str:
    if repository is None:
        return "no folder of the repository"
    source = repository.read(task.path)
    if source is None:
        return "no such file"
    if task.last > FileLines.of(source.data).count:
        return "lines outside the file"
    lines = source.data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    first = task.truth.split("\n")[0].strip()
    return "" if first in lines[task.line] else "the line is not the task's groundtruth"


def _task(record: Record) -> _Task:
    meta = record.inner("metadata")
    return _Task(
        "_".join(meta.text("task_id").split()),
        record.where,
        meta.text("repository"),
        meta.text("file"),
        record.text("prompt"),
        record.text("groundtruth"),
        meta.number("groundtruth_start_lineno"),
    )
