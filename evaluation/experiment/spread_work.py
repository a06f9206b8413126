"""Work over the files of a repository, spread over an executor and kept per file content."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from chunkers.file_work import Work, WorkedFile, done_by, worked
from chunkers.languages import GRAMMAR_PACK
from chunkers.sources import Repository
from chunkers.types import SourceFile
from evaluation.experiment.blocks import is_little
from evaluation.experiment.code import code_of
from evaluation.experiment.environment import package_version
from evaluation.experiment.executors import Executor
from evaluation.experiment.packs import Packs, file_key
from evaluation.experiment.store import Store

_PORTIONS, _SMALLEST = 128, 8
"""Tasks that a repository becomes, and files that one has at least."""
_FEW = 32
"""Portions with many new files after which this process does not look any further for others."""
_SPARE = 100
"""Files that the first portion is taken to have beside its own, so that a few new ones are few there too."""


class _Portion(NamedTuple):
    """Some files of a repository, and what is done with them."""

    number: int
    files: Repository
    kind: str
    work: Work
    entries: tuple[str, ...]
    """What was kept before this work began."""


@contextmanager
def spread_work(store: Store, executor: Executor) -> Iterator[None]:
    """Spread the work over files while the block runs."""
    with done_by(functools.partial(_spread, store, executor)):
        yield


def _spread(store: Store, executor: Executor, repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:
    kept = Packs(store, kind, _inputs(work))
    made: dict[int, list[WorkedFile]] = {}
    todo: list[_Portion] = []
    seen = new = 0
    here = not executor.for_little().elsewhere
    for portion in _portions(repository, kind, work, kept.entries()):
        # Where all files are kept, or all but a few, starting processes would take longer than doing it here.
        if portion.entries and len(todo) <= _FEW:
            sources = list(portion.files.files())
            names = [file_key(source) for source in sources]
            lacking = int((~kept.holds(names)).sum())
            seen += len(sources)
            if not lacking or (here and is_little(new + lacking, seen + _SPARE)):
                new += lacking
                made[portion.number] = _worked(kept, portion.work, sources, names)
                continue
        todo.append(portion)
    for outcome in executor.map(functools.partial(_do, store), todo):
        if outcome.value is None:
            raise outcome.exception
        made[outcome.task.number] = outcome.value
    if todo or new:
        kept.merge()
    for number in sorted(made):
        yield from made[number]


def _value(record: bytes) -> Any:  # noqa: ANN401 - what JSON can hold
    return json.loads(zlib.decompress(record))


def _portions(repository: Repository, kind: str, work: Work, entries: tuple[str, ...]) -> list[_Portion]:
    """Return the repository in portions, where it can be divided: a task names its files, it does not carry them."""
    divide = getattr(repository, "portions", None)
    parts = divide(_PORTIONS, least=_SMALLEST) if divide else [repository]
    return [_Portion(number, part, kind, work, entries) for number, part in enumerate(parts)]


def _do(store: Store, portion: _Portion) -> list[WorkedFile]:
    packs = Packs(store, portion.kind, _inputs(portion.work), entries=portion.entries)
    sources = list(portion.files.files())
    return _worked(packs, portion.work, sources, [file_key(source) for source in sources])


def _worked(packs: Packs, work: Work, sources: Sequence[SourceFile], names: Sequence[bytes]) -> list[WorkedFile]:
    """Return what the work makes of each file, and keep what is new."""
    known = packs.find(names)
    fresh: dict[bytes, bytes] = {}
    made = []
    for name, source in zip(names, sources, strict=True):
        if name in known:
            value = _value(known[name])
        else:
            text = json.dumps(work(source))
            fresh[name] = zlib.compress(text.encode(), 1)
            value = json.loads(text)  # the same whether it was kept or not
        made.append(worked(source, value))
    packs.add(fresh)
    return made


def _inputs(work: Any) -> dict[str, Any]:  # noqa: ANN401 - a function, or a partial of one over others
    """Return what decides what the work makes of a file."""
    functions = (work.func, *work.args) if isinstance(work, functools.partial) else (work,)
    return {
        "work": [f"{each.__module__}.{each.__qualname__}" for each in functions],
        "versions": {"tree-sitter": package_version("tree-sitter"), "grammars": GRAMMAR_PACK},
        "code": [code_of(each.__module__) for each in functions],
    }
