"""CrossCodeEval (Ding et al. 2023): completing a line needs other files of the repository.

Rows, as published (amazon-science/cceval): ``prompt, groundtruth, right_context, metadata{task_id, repository, file,
groundtruth_start_lineno}``; its files with context (line_completion_rg1_bm25.jsonl and the like) have also
``crossfile_context{text, list: [{retrieved_chunk, filename, score}]}``, which is empty where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from chunkers.errors import UsageError
from chunkers.languages import language_of
from chunkers.plugins import positive
from chunkers.sources import Folder, walk
from ground_truth.below import folder_below
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.selection import choose_rows
from ground_truth.similarity import identifiers
from ground_truth.texts import Texts
from ground_truth.types import Annotation, Dataset, Query


class _Task(NamedTuple):
    id: str
    where: str
    repo: str
    path: str
    prompt: str
    truth: str
    line: int
    """Line of the completion, from 0."""
    context: tuple[tuple[str, str], ...] | None
    """(file name, text) of the published context; None if the file has no context."""

    @property
    def last(self) -> int:
        """The last line of the completion, from 1."""
        return self.line + 1 + self.truth.rstrip("\n").count("\n")


@dataclass(frozen=True, kw_only=True)
class CrossCodeEval:
    """CrossCodeEval's tasks with the repositories of its raw data, or only with its own cross-file context."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "path= line_completion*.jsonl of a language; root= the raw repositories, if they are at hand"

    path: str
    root: str = ""
    """The folder with one folder per repository, named as in the tasks. Without it, the corpus is the context in the
    file itself, and gold is the part of it that holds most of the completion's identifiers."""
    query_lines: int = 20
    """The query is the last lines of the prompt, this many, as in the published retrieval set-up."""
    repositories: str = "all"
    """`all`, or names separated by commas."""
    limit: int | None = None
    """At most this many tasks per repository, in file order."""
    problems: Policy = "error"
    """Whether a task that does not fit its repository or its context stops the loading."""

    def __post_init__(self) -> None:
        positive(self, "query_lines", *(["limit"] if self.limit is not None else []))

    def load(self) -> Dataset:
        """Return the dataset; each completion is located on the line that the task names, or in the context."""
        tasks = [_task(record) for record in read_records(Path(self.path).expanduser())]
        tasks = choose_rows(tasks, self.repositories, limit=self.limit, path=self.path)
        skips = Skips(self.problems)
        good, notes, repositories = (self._raw if self.root else self._own_context)(tasks, skips)
        if not good:
            where = f"the repositories below {self.root}" if self.root else "its own context"
            raise UsageError(f"{self.path}: no task fits {where}: {skips}")
        return Dataset(
            name="crosscodeeval",
            repositories=tuple(repositories),
            queries=tuple(
                Query(task.id, "\n".join(task.prompt.split("\n")[-self.query_lines :]), task.repo, expected=task.truth)
                for task in good
            ),
            annotations=tuple(notes),
            details={
                "rows": len(tasks),
                "used": len(good),
                "skipped": skips.counts,
                **(
                    {"self_retrieval": "the query's lines are in the corpus"}
                    if self.root
                    else {"gold": "the pieces of context with most identifiers of the completion"}
                ),
            },
        )

    def _raw(self, tasks: Sequence[_Task], skips: Skips) -> tuple[list[_Task], list[Annotation], list[Folder]]:
        """Return the tasks that fit the raw repositories: gold is the completed lines."""
        keep: dict[str, set[str]] = {}
        for task in tasks:
            keep.setdefault(task.repo, set()).add(task.path)
        root = Path(self.root).expanduser()
        folders = {
            name: walk(place, name=name, keep=paths)
            for name, paths in sorted(keep.items())
            if (place := folder_below(root, name))
        }
        good: dict[str, _Task] = {}
        for task in tasks:
            with skips.row():
                _check_once(task, good)
                _check(task, folders.get(task.repo))
                good[task.id] = task
        used = {task.repo for task in good.values()}
        notes = [Annotation(task.id, task.repo, task.path, task.line + 1, task.last) for task in good.values()]
        return list(good.values()), notes, [folder for name, folder in folders.items() if name in used]

    def _own_context(self, tasks: Sequence[_Task], skips: Skips) -> tuple[list[_Task], list[Annotation], list[Texts]]:
        """Return each repository as the pieces in its tasks' contexts."""
        if tasks and all(task.context is None for task in tasks):
            raise UsageError(
                f"{self.path} has no crossfile_context: give line_completion_rg1_bm25.jsonl or the like, or root= the "
                "raw repositories"
            )
        paths: dict[str, dict[tuple[str, str], str]] = {}
        good: dict[str, _Task] = {}
        notes: list[Annotation] = []
        for task in tasks:
            with skips.row():
                _check_once(task, good)
                wanted = _answering(task)
                known = paths.setdefault(task.repo, {})
                for piece in task.context or ():
                    known.setdefault(piece, f"{len(known)}/{piece[0]}")
                good[task.id] = task
                notes += [Annotation(task.id, task.repo, known[piece], 1, _count(piece[1])) for piece in wanted]
        corpora = [
            Texts(
                name,
                {path: piece[1] for piece, path in known.items()},
                languages={path: language_of(piece[0]) for piece, path in known.items()},
            )
            for name, known in sorted(paths.items())
        ]
        return list(good.values()), notes, corpora


def _check_once(task: _Task, good: dict[str, _Task]) -> None:
    if task.id in good:
        raise RowProblemError(task.where, "duplicate row", f"{task.id} is there twice: remove one")


def _check(task: _Task, repository: Folder | None) -> None:
    """Raise unless the completion is on the line that the task names."""
    if repository is None:
        raise RowProblemError(task.where, "no folder of the repository", f"{task.repo}: unpack the raw data there")
    where = f"{task.repo}/{task.path}"
    source = repository.read(task.path)
    if source is None:
        raise RowProblemError(task.where, "no such file", where)
    count = FileLines.of(source.data).count
    if task.last > count:
        raise RowProblemError(task.where, "lines outside the file", f"{where} has {count} lines, not {task.last}")
    lines = source.data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if task.truth.split("\n")[0].strip() not in lines[task.line]:
        raise RowProblemError(task.where, "the line is not the task's groundtruth", f"{where}:{task.line + 1}")


def _answering(task: _Task) -> list[tuple[str, str]]:
    """Return the pieces of context with most of the completion's identifiers.

    Only identifiers that are new to the prompt count, if there are any.
    """
    if not task.context:
        raise RowProblemError(task.where, "no cross-file context", f"{task.id} has none: give root= for this task")
    asked = identifiers(task.truth)
    asked = (asked - identifiers(task.prompt)) or asked
    shares = {piece: len(asked & identifiers(piece[1])) for piece in task.context}
    most = max(shares.values())
    if not most:
        found = f"{', '.join(sorted(asked)[:4]) or 'no identifier'} is in no piece of it"
        raise RowProblemError(task.where, "the context lacks the completion's identifiers", found)
    return [piece for piece, share in shares.items() if share == most]


def _count(text: str) -> int:
    return text.removesuffix("\n").count("\n") + 1


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
        _context(record),
    )


def _context(record: Record) -> tuple[tuple[str, str], ...] | None:
    if "crossfile_context" not in record.fields:
        return None
    value = record.fields["crossfile_context"]
    rows = value.get("list") if isinstance(value, dict) else None
    if not isinstance(rows, list | None):
        raise UsageError(
            f"{record.where}: crossfile_context.list is not a list: write the pieces as the dataset has them"
        )
    pieces = (_piece(record.where, row) for row in rows or ())
    return tuple(piece for piece in pieces if piece[1].strip())


def _piece(where: str, row: Any) -> tuple[str, str]:  # noqa: ANN401 - any JSON value
    fields = row if isinstance(row, dict) else {}
    name, text = fields.get("filename"), fields.get("retrieved_chunk")
    if not isinstance(name, str) or not isinstance(text, str):
        raise UsageError(
            f"{where}: crossfile_context has {str(row)[:60]!r}: retrieved_chunk and filename were expected"
        )
    return name, text
