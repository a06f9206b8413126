"""The files of a repository as a miner sees them: which may be asked about, and which not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.generated_code import is_generated
from ground_truth.miners.selection import Harvest
from ground_truth.source_paths import is_source_language, is_test_file


class CorpusFile(NamedTuple):
    """A file, and why nothing in it may be asked about, or nothing."""

    source: SourceFile
    reason: str


def corpus_files(repository: Repository, harvest: Harvest) -> Iterator[CorpusFile]:
    """Yield the files of programs in path order, counting the code of those that may be asked about."""
    paths = frozenset(getattr(repository, "paths", ()))
    for source in repository.files():
        if source.language is None or not is_source_language(source.language):
            continue
        reason = _reason(source, paths)
        if not reason:
            harvest.code[source.language] += len(source.data)
        yield CorpusFile(source, reason)


def _reason(source: SourceFile, paths: frozenset[str]) -> str:
    if is_test_file(source.path):
        return "test file"
    return "generated file" if is_generated(source.path, source.data, paths) else ""
