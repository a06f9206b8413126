"""RepoEval (RepoCoder): function, line and API completion in eight repositories, with three definitions of gold."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.sources import Folder
from ground_truth.archives import unpacked
from ground_truth.below import folder_below
from ground_truth.data_folders import locate
from ground_truth.hidden import documentation, hidden_lines
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import LineRange
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.python_functions import Function, function_at, functions_of
from ground_truth.transforms import crlf
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

_LEFT_OUT_OF_SIX = ("CarperAI_trlx", "leopard-ai_betty")
_LF_IN_CODE_CHUNK = "amazon-science_patchcore-inspection"
Gold = Literal["prompt", "body", "function"]
Newlines = Literal["keep", "crlf", "code-chunk"]


class _Task(NamedTuple):
    id: str
    where: str
    repo: str
    path: str
    prompt: str
    truth: str
    name: str
    context: int
    """First line of the prompt, from 0."""
    line: int
    """First line to complete, from 0."""

    @property
    def body(self) -> LineRange:
        """The lines to complete, from 1."""
        count = len(self.truth.removesuffix("\n").split("\n"))
        return LineRange(self.line + 1, self.line + count)


@dataclass(frozen=True, kw_only=True)
class RepoEval:
    """RepoEval from its official files: the tasks (.jsonl) and the repositories (a folder, or their archive)."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= the folder with its tasks (.jsonl) and repositories/, or its official archives (.zip)"

    path: str = ""
    """The folder with the tasks and repositories."""
    level: Literal["function", "line", "api"] = "function"
    gold: Gold = "body"
    """`prompt`: the prompt's own lines, as CodeRAG-Bench and code-chunk do; `body`: the lines to complete; `function`:
    the docstring or signature asks for the whole function, docstrings hidden."""
    repositories: str = "8"
    """8, 6 (without trlx and betty, as code-chunk and CodeRAG-Bench), or names separated by commas."""
    newlines: Newlines = "keep"
    """`crlf` ends lines with CR LF; `code-chunk` does so in all but patchcore, matching its stored vectors."""
    mask: Literal["none", "query"] = "none"
    """`query` hides the lines that a query was taken from, except gold lines."""
    problems: Policy = "error"
    """Whether a task whose file or lines do not exist stops the loading."""

    def __post_init__(self) -> None:
        if self.mask == "query" and self.gold == "prompt":
            raise UsageError("mask=query with gold=prompt would hide the gold: choose gold=body or gold=function")
        if self.gold == "function" and self.level != "function":
            raise UsageError(f"gold=function with level={self.level}: those tasks complete lines, not functions")

    def load(self) -> Dataset:
        """Return the dataset; every task's lines are checked against its file."""
        home = locate(self.path, name="repoeval", dataset="repoeval")
        tasks = _tasks(_task_file(home, self.level), self.level)
        chosen = _choose(self.repositories, sorted({task.repo for task in tasks}))
        root = _repositories(home, self.level)
        skips = Skips(self.problems)
        wanted = [task for task in tasks if task.repo in chosen]
        folders = {name: folder for name in chosen if (folder := _folder(root, name))}
        tasks = _usable(wanted, folders, root=root, skips=skips, exact=self.level == "function")
        if not tasks:
            raise UsageError(f"{home}: none of {len(wanted)} tasks can be used: {skips}")
        functions = _functions(tasks, folders) if self.gold == "function" else {}
        questions = [_question(task, functions.get((task.repo, task.path), ()), self.gold) for task in tasks]
        masks = _own_lines(questions) if self.mask == "query" else {}
        repositories = tuple(
            dataclasses.replace(folder, transform=crlf) if self._is_crlf(name) else folder
            for name, folder in folders.items()
            if any(task.repo == name for task in tasks)
        )
        return Dataset(
            name=f"repoeval-{self.level}-{self.gold}",
            repositories=repositories,
            hidden=self._hidden(repositories, masks),
            queries=tuple(Query(one.task.id, one.text, one.task.repo, expected=one.task.truth) for one in questions),
            annotations=tuple(Annotation(one.task.id, one.task.repo, one.task.path, *one.gold) for one in questions),
            details={
                "rows": len(wanted),
                "used": len(tasks),
                "skipped": skips.counts,
                **self._details(questions, masks),
            },
        )

    def _is_crlf(self, name: str) -> bool:
        return self.newlines == "crlf" or (self.newlines == "code-chunk" and name != _LF_IN_CODE_CHUNK)

    def _hidden(
        self, repositories: Sequence[Folder], masks: Mapping[tuple[str, str], Sequence[int]]
    ) -> tuple[HiddenSpan, ...]:
        spans = list(documentation(repositories)) if self.gold == "function" else []
        for folder in repositories:
            own = {path: lines for (repo, path), lines in masks.items() if repo == folder.name}
            spans += hidden_lines(folder, own)
        return tuple(spans)

    def _details(self, questions: Sequence[_Question], masks: Mapping[Any, Sequence[int]]) -> dict[str, Any]:
        gold_lines = sorted(one.gold.last - one.gold.first + 1 for one in questions)
        return {
            "gold": self.gold,
            "level": self.level,
            "newlines": self.newlines,
            "queries_from": dict(Counter(one.source for one in questions)),
            "median_gold_lines": gold_lines[len(gold_lines) // 2],
            "masked_lines": sum(len(lines) for lines in masks.values()),
        }


class _Question(NamedTuple):
    task: _Task
    text: str
    source: str
    own: LineRange
    """The lines that the text was taken from."""
    gold: LineRange


def _task_file(home: Path, level: str) -> Path:
    """Return the tasks of a level: in the folder, its `datasets`, or the official datasets.zip in either."""
    if home.is_file():
        return home
    folders = [folder for folder in (home, home / "datasets") if folder.is_dir()]
    folders += [unpacked(place / "datasets.zip") for place in folders if (place / "datasets.zip").is_file()]
    found = sorted(path for folder in folders for path in folder.rglob(f"{level}_level_completion*.jsonl"))
    if not found:
        raise UsageError(f"{home} has no {level}_level_completion*.jsonl: give the folder of RepoEval's datasets")
    # Contexts of several lengths are published; all published retrieval protocols use 2k.
    return next((path for path in found if "2k_context_codex" in path.name), found[0])


def _tasks(path: Path, level: str) -> list[_Task]:
    """Return the tasks, numbered per repository because their own ids all end in "idx"."""
    numbers: Counter[str] = Counter()
    tasks = []
    for record in read_records(path):
        meta = record.inner("metadata")
        parts = meta.fields.get("fpath_tuple")
        if not isinstance(parts, list | tuple) or len(parts) < 2 or not all(isinstance(part, str) for part in parts):
            raise UsageError(f"{record.where}: fpath_tuple is {parts!r}: repository and path were expected")
        tasks.append(_task(record, meta, parts, numbers[parts[0]], level))
        numbers[parts[0]] += 1
    if not tasks:
        raise UsageError(f"{path} has no tasks")
    return tasks


def _task(record: Record, meta: Record, parts: Sequence[str], number: int, level: str) -> _Task:
    return _Task(
        id=f"{parts[0]}/{number}",
        where=record.where,
        repo=parts[0],
        path="/".join(parts[1:]),
        prompt=record.text("prompt"),
        truth=meta.text("ground_truth"),
        name=str(meta.fields.get("function_name", "")),
        context=meta.number("context_start_lineno"),
        line=meta.number("lineno" if level == "function" else "line_no"),
    )


def _choose(text: str, names: Sequence[str]) -> list[str]:
    if text == "8":
        return list(names)
    if text == "6":
        return [name for name in names if name not in _LEFT_OUT_OF_SIX]
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in names]
    if unknown or not wanted:
        raise UsageError(f"repositories is {text!r}; write 6, 8 or names of {', '.join(names)}")
    return wanted


def _repositories(home: Path, level: str) -> Path:
    """Return the folder of a level's repositories, unpacking their archive if only that exists."""
    home = home.parent if home.is_file() else home
    name = "function_level" if level == "function" else "line_and_api_level"
    for place in (home / "repositories" / name, home / name):
        if place.is_dir():
            return place
    for place in (home / "repositories", home):
        if (archive := place / f"{name}.zip").is_file():
            root = unpacked(archive)
            return root / name if (root / name).is_dir() else root
    if (home / "repositories").is_dir():
        return home / "repositories"
    for archive in sorted(home.glob("repositories.tar*")):
        return unpacked(archive)
    return home


def _folder(root: Path, name: str) -> Folder | None:
    """Return every Python file of a repository, as the published protocols index them; None if it is not there."""
    base = folder_below(root, name)
    if base is None:
        return None
    files = (path for path in base.rglob("*.py") if path.is_file() and not path.is_symlink())
    found = (path.relative_to(base).as_posix() for path in files)
    return Folder(name, base, tuple(sorted(found)))


def _usable(
    tasks: Sequence[_Task], folders: Mapping[str, Folder], *, root: Path, skips: Skips, exact: bool
) -> list[_Task]:
    """Return the tasks whose lines to complete match their file."""
    found = []
    for task in tasks:
        with skips.row():
            if task.repo not in folders:
                remedy = f"{root} has no folder {task.repo}: unpack the repositories of RepoEval there"
                raise RowProblemError(task.where, "no folder of the repository", remedy)
            _check(task, folders[task.repo], exact=exact)
            found.append(task)
    return found


def _check(task: _Task, folder: Folder, *, exact: bool) -> None:
    """Raise unless the lines to complete match the file; indentation counts only in whole functions."""
    source = folder.read(task.path)
    if source is None:
        found = f"{task.repo}/{task.path} is not there: use the archive of the same release"
        raise RowProblemError(task.where, "file not in the repository", found)
    lines = source.data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    here, truth = "\n".join(lines[task.body.first - 1 : task.body.last]), task.truth.removesuffix("\n")
    if here != truth and (exact or here.strip() != truth.strip()):
        raise RowProblemError(
            task.where,
            "the lines are not the task's ground_truth",
            f"lines {task.body.first}-{task.body.last} of {task.repo}/{task.path}: use the archive of the same release",
        )


def _functions(tasks: Sequence[_Task], folders: Mapping[str, Folder]) -> dict[tuple[str, str], list[Function]]:
    """Return the functions of every file that has a task, each file parsed once."""
    files = sorted({(task.repo, task.path) for task in tasks})
    return {key: functions_of(source.data) for key in files if (source := folders[key[0]].read(key[1]))}


def _question(task: _Task, functions: Sequence[Function], gold: Gold) -> _Question:
    prompt = LineRange(task.context + 1, task.line)
    if gold == "prompt":
        return _Question(task, task.prompt, "prompt", prompt, LineRange(task.context + 1, task.line + 1))
    if gold == "body":
        return _Question(task, task.prompt, "prompt", prompt, task.body)
    found = function_at(functions, task.body.first, name=task.name)
    if found is None:
        raise UsageError(f"{task.where}: {task.path} has no function {task.name!r} at line {task.body.first}")
    if found.doc:
        return _Question(task, found.doc, "docstring", found.signature_lines, found.lines)
    return _Question(task, found.signature, "signature", found.signature_lines, found.lines)


def _own_lines(questions: Sequence[_Question]) -> dict[tuple[str, str], list[int]]:
    """Return for each file the lines that belong to some query and to no task's gold; docstrings are hidden anyway."""
    own: dict[tuple[str, str], set[int]] = {}
    gold: dict[tuple[str, str], set[int]] = {}
    for one in questions:
        key = (one.task.repo, one.task.path)
        if one.source != "docstring":
            own.setdefault(key, set()).update(range(one.own.first, one.own.last + 1))
        kept = one.gold if one.source == "prompt" else one.task.body
        gold.setdefault(key, set()).update(range(kept.first, kept.last + 1))
    return {key: sorted(lines - gold[key]) for key, lines in own.items() if lines - gold[key]}
