"""The contract of every dataset, for `chunkbench check-plugin dataset` and for our own tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from chunkers.errors import UsageError
from chunkers.findings import Check, Finding, examine
from ground_truth.spans import FileKey, annotated_lines, check_lines
from ground_truth.types import Dataset, DatasetLoader


def check_dataset(loader: DatasetLoader) -> list[Finding]:
    """Load the dataset twice and return each rule with its violations."""
    try:
        loaded: object = loader.load()
    except UsageError as error:
        return [Finding("it loads", str(error))]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever third-party code raises is the finding
        return [Finding("it loads", f"it raised {type(error).__name__}: {' '.join(str(error).split())}")]
    if not isinstance(loaded, Dataset):
        return [Finding("it loads", f"load() returned {type(loaded).__name__}, not a Dataset")]
    again = examine(loader, {"loading it again gives the same": lambda each: _same(loaded, each.load())})
    return [Finding("it loads"), *examine(loaded, _RULES), *again]


def _repositories(dataset: Dataset) -> Iterator[str]:
    if not dataset.repositories:
        yield "it has no repositories"
    yield from _twice("repository", (repository.name for repository in dataset.repositories))
    for repository in dataset.repositories:
        paths = [source.path for source in repository.files()]
        if not paths:
            yield f"repository {repository.name!r} has no files"
        if paths != sorted(paths):
            yield f"the files of {repository.name!r} are not in the order of their paths"
        yield from _twice(f"file of {repository.name!r}", paths)
        if paths and (one := repository.read(paths[0])) != next(iter(repository.files())):
            yield f"read({paths[0]!r}) gave {one!r:.60}, not what files() yields"
        if repository.read("no/such/file.py") is not None:
            yield f"repository {repository.name!r} reads a file that it does not have: return None"


def _queries(dataset: Dataset) -> Iterator[str]:
    if not dataset.queries:
        yield "it has no queries"
    yield from _twice("query id", (query.id for query in dataset.queries))
    names = {repository.name for repository in dataset.repositories}
    for query in dataset.queries:
        if not query.text.strip():
            yield f"query {query.id!r} has no text"
        if dataset.scope == "repository" and query.repo not in names:
            yield f"query {query.id!r} is about {query.repo!r}, which is not a repository of the dataset"


def _annotations(dataset: Dataset) -> Iterator[str]:
    known = {query.id: query for query in dataset.queries}
    files = annotated_lines(dataset)
    for note in dataset.annotations:
        if note.query_id not in known:
            yield f"an annotation of {note.path} is for query {note.query_id!r}, which does not exist"
            continue
        if not (math.isfinite(note.grade) and note.grade >= 0):
            yield f"query {note.query_id!r}: grade {note.grade} is not a number from 0 up"
        if dataset.scope == "repository" and note.repo != known[note.query_id].repo:
            yield f"query {note.query_id!r} searches {known[note.query_id].repo!r}, its gold is in {note.repo!r}"
        try:
            check_lines(note, files.get(FileKey(note.repo, note.path)))
        except UsageError as error:
            yield str(error)


def _answers(dataset: Dataset) -> Iterator[str]:
    answered = {note.query_id for note in dataset.annotations if note.grade > 0}
    without = [query.id for query in dataset.queries if query.id not in answered]
    if without:
        yield f"{len(without)} of {len(dataset.queries)} queries have no gold, {without[0]!r} first: leave them out"


_RULES: dict[str, Check[Dataset]] = {
    "repositories have names of their own, and files in the order of their paths": _repositories,
    "queries have ids of their own, a text, and a repository": _queries,
    "annotations belong to a query and lie inside a file of the repository that it searches": _annotations,
    "every query has gold": _answers,
}


def _same(dataset: Dataset, again: Dataset) -> Iterator[str]:
    if dataset.queries != again.queries:
        yield "the queries are others"
    if dataset.annotations != again.annotations:
        yield "the annotations are others"
    if [each.name for each in dataset.repositories] != [each.name for each in again.repositories]:
        yield "the repositories are others"


def _twice(what: str, values: Iterable[Hashable]) -> Iterator[str]:
    return (f"{what} {value!r} occurs {count} times" for value, count in Counter(values).items() if count > 1)
