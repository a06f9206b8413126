"""Work over the files of a repository, spread over an executor and kept per file content."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from chunkers.file_work import Work, WorkedFile, done_by, worked
from chunkers.languages import GRAMMAR_PACK
from chunkers.sources import Repository
from evaluation.experiment.code import code_of
from evaluation.experiment.environment import package_version
from evaluation.experiment.executors import Executor
from evaluation.experiment.packs import Packs, file_key
from evaluation.experiment.store import Store

_PORTIONS, _SMALLEST = 128, 8
"""Tasks that a repository becomes, and files that one has at least."""
_FEW = 32
"""Portions with new files after which this process does not look any further for those that have none."""


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
    for portion in _portions(repository, kind, work, kept.entries()):
        # Where everything is kept, starting processes would take longer than looking it up.
        found = _kept(kept, portion) if portion.entries and len(todo) <= _FEW else None
        if found is None:
            todo.append(portion)
        else:
            made[portion.number] = found
    for outcome in executor.map(functools.partial(_do, store), todo):
        if outcome.value is None:
            raise outcome.exception
        made[outcome.task.number] = outcome.value
    if todo:
        kept.merge()
    for number in sorted(made):
        yield from made[number]


def _kept(packs: Packs, portion: _Portion) -> list[WorkedFile] | None:
    """Return the files of a portion with what was kept of each, or None where one is new."""
    sources = list(portion.files.files())
    names = [file_key(source) for source in sources]
    known = packs.find(names)
    if any(name not in known for name in names):
        return None
    return [worked(source, _value(known[name])) for name, source in zip(names, sources, strict=True)]


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
    names = [file_key(source) for source in sources]
    known = packs.find(names)
    fresh: dict[bytes, bytes] = {}
    made = []
    for name, source in zip(names, sources, strict=True):
        if name in known:
            value = _value(known[name])
        else:
            text = json.dumps(portion.work(source))
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
