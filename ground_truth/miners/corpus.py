"""The files of a repository as a miner sees them: possible queries, code that may be an answer, and excluded files."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

from chunkers.file_work import each_file
from chunkers.sources import Repository
from ground_truth.generated_code import has_source_sibling, is_generated
from ground_truth.miners.finds import Find, join_finds, leave_out, pack_finds
from ground_truth.miners.selection import Harvest
from ground_truth.source_paths import is_source_language, is_test_file

_GENERATED = "generated file"


def harvest_files(repository: Repository, finds: Mapping[str, Find]) -> dict[str, Harvest]:
    """Return kind → all possible queries of a repository, in path order, and the code that may be asked about.

    All kinds process a file together: it is read once.
    """
    paths = frozenset(getattr(repository, "paths", ()))
    files, records = [], []
    for file, record in each_file(repository, "mined", functools.partial(finds_of, *finds.values())):
        if record:
            generated = has_source_sibling(file.path, paths)
            records.append(leave_out(record, len(finds), _GENERATED) if generated else record)
            files.append(file)
    may_ask, found = join_finds(records, len(finds))
    code: Counter[str] = Counter()
    for file, is_code in zip(files, may_ask.tolist(), strict=True):
        if is_code:
            code[file.language or ""] += file.size
    return {kind: Harvest(repository.name, kind, files, each, code) for kind, each in zip(finds, found, strict=True)}


def finds_of(*finds_and_source: Any) -> bytes:  # noqa: ANN401 - finders, and the file
    """Return the possible queries in a file of each kind; nothing if it is not source code."""
    *finds, source = finds_and_source
    if source.language is None or not is_source_language(source.language):
        return b""
    generated = _GENERATED if is_generated(source.path, source.data) else ""
    left_out = "test file" if is_test_file(source.path) else generated
    return pack_finds([find(source) for find in finds], left_out=left_out)
