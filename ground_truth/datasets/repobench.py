"""RepoBench-R (Liu et al. 2024, arXiv 2306.03091): the code before a line asks for the snippet that the line needs.

Rows, as published (v1.1: tianyang/repobench_python_v1.1, repobench_java_v1.1): ``repo_name, file_path, context:
[{identifier, path, snippet}], import_statement, cropped_code, next_line, gold_snippet_index``. The first release
(tianyang/repobench-r) has plain texts in ``context``, ``code`` for cropped_code and ``golden_snippet_index``. Both
load, except for the pickles of the first release, because unpickling executes code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Folder, Repository, walk
from ground_truth.below import folder_below
from ground_truth.hub import local_files
from ground_truth.jsonl import Record, read_records
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.selection import choose_rows
from ground_truth.similarity import jaccard
from ground_truth.snippets import find_snippet
from ground_truth.texts import Texts
from ground_truth.types import Annotation, Dataset, Query

SIMILAR = 0.7
"""Users of the benchmark call a text relevant from this token Jaccard similarity on."""
Language = Literal["python", "java"]


class _Task(NamedTuple):
    id: str
    where: str
    repo: str
    text: str
    truth: str
    candidates: tuple[tuple[str, str], ...]
    """(path, snippet); the path is empty in the first release."""
    gold: int


@dataclass(frozen=True, kw_only=True)
class RepoBench:
    """RepoBench-R's rows; the corpus is the candidates or, with ``root``, the repositories they were cut from."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= its .jsonl, .json or .parquet; root= (optional) a folder with its repositories"

    path: str
    root: str = ""
    """A folder with the repositories, named owner/name or owner__name; each gold snippet is then found in its file."""
    language: Language = "python"
    gold: Literal["place", "jaccard"] = "place"
    """`place`: the gold snippet itself; `jaccard`: also candidates with a token similarity of at least 0.7."""
    pool: Literal["row", "repository"] = "row"
    """What a query searches: its own candidates, as published, or those of all rows of its repository."""
    query_lines: int = 3
    """The query is the last lines of the code, this many, as in the published retrieval baselines."""
    repositories: str = "all"
    """`all`, or names separated by commas."""
    limit: int | None = None
    """At most this many rows per repository, in file order."""
    problems: Policy = "error"
    """Whether a row without its gold snippet stops the loading."""

    def __post_init__(self) -> None:
        positive(self, "query_lines", *(["limit"] if self.limit is not None else []))
        if self.root and self.gold == "jaccard":
            raise UsageError("gold=jaccard compares candidates, but root= searches whole files: leave one of them out")

    def load(self) -> Dataset:
        """Return the dataset."""
        if self.path.endswith((".gz", ".pkl", ".pickle")):
            raise UsageError(f"{self.path} is a pickle, which would run its code: save its rows as .jsonl or .parquet")
        records = [record for file in local_files(self.path) for record in read_records(file)]
        tasks = [self._task(record, number) for number, record in enumerate(records, 1)]
        tasks = choose_rows(tasks, self.repositories, limit=self.limit, path=self.path)
        skips = Skips(self.problems)
        found = self._placed(tasks, skips) if self.root else self._candidates(tasks, skips)
        if not found.queries:
            raise UsageError(f"{self.path}: none of {len(tasks)} rows can be used: {skips}")
        return Dataset(
            name="repobench",
            repositories=tuple(found.repositories.values()),
            queries=tuple(found.queries),
            annotations=tuple(found.notes),
            details={
                "rows": len(tasks),
                "used": len(found.queries),
                "skipped": skips.counts,
                "gold": dict(found.places),
                "pool": "repository" if self.root else self.pool,
            },
        )

    def _candidates(self, tasks: Sequence[_Task], skips: Skips) -> _Found:
        """Return each row, or repository, as a corpus of its candidates."""
        found = _Found({}, [], [], Counter())
        texts: dict[str, dict[str, str]] = {}
        paths: dict[str, dict[tuple[str, str], str]] = {}
        for task in tasks:
            name = task.repo if self.pool == "repository" else f"{task.repo}#{task.id}"
            with skips.row():
                wanted = _gold_snippet(task)
                known = paths.setdefault(name, {})
                for candidate in task.candidates:
                    if candidate[1].strip() and candidate not in known:
                        known[candidate] = _path(candidate[0], len(known), self.language)
                        texts.setdefault(name, {})[known[candidate]] = candidate[1]
                gold = dict.fromkeys([known[wanted]])
                if self.gold == "jaccard":
                    gold |= {known[one]: None for one in task.candidates if jaccard(one[1], wanted[1]) >= SIMILAR}
                found.places["candidates"] += len(gold)
                found.queries.append(Query(task.id, task.text, name, group=task.repo, expected=task.truth))
                found.notes.extend(
                    Annotation(task.id, name, path, 1, texts[name][path].removesuffix("\n").count("\n") + 1)
                    for path in gold
                )
        for name, files in texts.items():
            found.repositories[name] = Texts(name, files, language=self.language)
        return found

    def _placed(self, tasks: Sequence[_Task], skips: Skips) -> _Found:
        """Return the repositories themselves; gold is where a snippet is, or the most similar place."""
        found = _Found({}, [], [], Counter())
        root = Path(self.root).expanduser()
        for task in tasks:
            with skips.row():
                folder = found.repositories.get(task.repo) or _folder(root, task)
                path, snippet = _gold_snippet(task)
                place = find_snippet(snippet, folder, path=path, similar=SIMILAR)
                if place is None:
                    what = f"{path or 'no file'} of {task.repo} has it neither whole nor with a Jaccard of {SIMILAR}"
                    raise RowProblemError(task.where, "gold snippet not in the repository", what)
                found.places["found whole" if place.exact else f"most similar lines, Jaccard {SIMILAR} or more"] += 1
                found.repositories[task.repo] = folder
                found.queries.append(Query(task.id, task.text, task.repo, expected=task.truth))
                found.notes.append(Annotation(task.id, task.repo, place.path, place.first, place.last))
        return found

    def _task(self, record: Record, number: int) -> _Task:
        context = record.fields.get("context")
        index = record.fields.get("gold_snippet_index", record.fields.get("golden_snippet_index"))
        if not isinstance(context, list) or isinstance(index, bool) or not isinstance(index, int):
            raise UsageError(
                f"{record.where}: context and gold_snippet_index were expected, a list and a whole number; found "
                f"{', '.join(sorted(map(str, record.fields))[:12]) or 'nothing'}"
            )
        code = record.text("cropped_code" if "cropped_code" in record.fields else "code")
        lines = [line for line in code.split("\n") if line.strip()]
        return _Task(
            f"{number}",
            record.where,
            record.text("repo_name"),
            "\n".join(lines[-self.query_lines :]) or record.text("import_statement"),
            record.text("next_line"),
            tuple(_candidate(record.where, one) for one in context),
            index,
        )


class _Found(NamedTuple):
    repositories: dict[str, Repository]
    queries: list[Query]
    notes: list[Annotation]
    places: Counter[str]


def _candidate(where: str, value: Any) -> tuple[str, str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return "", value
    if isinstance(value, dict) and isinstance(value.get("snippet"), str):
        return str(value.get("path") or ""), value["snippet"]
    raise UsageError(f"{where}: context has {str(value)[:60]!r}: a snippet, or identifier, path and snippet")


def _gold_snippet(task: _Task) -> tuple[str, str]:
    if not 0 <= task.gold < len(task.candidates):
        found = f"gold_snippet_index is {task.gold}, and there are {len(task.candidates)} candidates"
        raise RowProblemError(task.where, "no gold snippet", found)
    if not task.candidates[task.gold][1].strip():
        raise RowProblemError(task.where, "empty gold snippet", f"candidate {task.gold} has no text")
    return task.candidates[task.gold]


def _path(path: str, number: int, language: Language) -> str:
    """Return a name for a candidate; a file may have several."""
    return f"{number}/{path}" if path else f"{number}.{'py' if language == 'python' else 'java'}"


def _folder(root: Path, task: _Task) -> Folder:
    spellings = (task.repo, task.repo.replace("/", "__"), task.repo.replace("/", "_"), task.repo.split("/")[-1])
    place = next((found for name in spellings if (found := folder_below(root, name))), None)
    if place is None:
        raise RowProblemError(task.where, "no folder of the repository", f"{task.repo} is not below {root}")
    return walk(place, name=task.repo)
