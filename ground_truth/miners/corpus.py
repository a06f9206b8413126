"""The files of a repository as a miner sees them: what each could ask, which may be asked about, and which not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from chunkers.file_work import WorkedFile, each_file
from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.generated_code import is_generated
from ground_truth.miners.selection import Candidate, Harvest
from ground_truth.source_paths import is_source_language, is_test_file
from ground_truth.types import HiddenSpan


class Found(NamedTuple):
    """A text of a file that may be asked, and what speaks against it."""

    name: str
    query: str
    start_line: int
    end_line: int
    body: tuple[str, ...]
    """The distinct lines of the answer, sorted."""
    reason: str


class FileFinds(NamedTuple):
    """What one file could ask and what an index must not show of it, whatever else is in the repository."""

    hidden: list[tuple[int, int]]
    found: list[Found]


Find = Callable[[SourceFile], FileFinds]


def harvest_files(repository: Repository, finds: Mapping[str, Find]) -> dict[str, Harvest]:
    """Return kind → everything in a repository that it could ask, in path order, and the code that may be asked about.

    All kinds look at a file together: it is read once.
    """
    harvests = {kind: Harvest(repository.name, kind) for kind in finds}
    paths = frozenset(getattr(repository, "paths", ()))
    for file in each_file(repository, "mined", functools.partial(finds_of, *finds.values())):
        if file.value is None:
            continue
        is_marked, *values = file.value
        reason = "test file" if is_test_file(file.path) else "generated file" if is_marked else ""
        if not reason and is_generated(file.path, b"", paths):
            reason = "generated file"
        for harvest, (hidden, found) in zip(harvests.values(), values, strict=True):
            _gather(harvest, file, hidden, map(Found._make, found), reason)
    return harvests


def _gather(
    harvest: Harvest, file: WorkedFile, hidden: Iterable[tuple[int, int]], found: Iterable[Found], reason: str
) -> None:
    """Add what one file could ask; ``reason`` is why nothing of it may be asked, if so."""
    language = file.language or ""
    if not reason:
        harvest.code[language] += file.size
    harvest.hidden.extend(HiddenSpan(harvest.repo, file.path, start, end) for start, end in hidden)
    for each in found:
        lines = each.start_line, each.end_line
        candidate = Candidate(file.path, language, each.name, each.query, *lines, frozenset(each.body))
        harvest.take(candidate, file_reason=reason, reason=each.reason)


def finds_of(*finds_and_source: Any) -> Any:  # noqa: ANN401 - ways to find, and the file; what JSON can hold
    """Return whether a program made the file, and what each way finds to ask; None where it is no program's source."""
    *finds, source = finds_and_source
    if source.language is None or not is_source_language(source.language):
        return None
    return (is_generated(source.path, source.data), *(find(source) for find in finds))
