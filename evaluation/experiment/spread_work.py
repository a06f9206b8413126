"""Per-file work on a repository, spread over an executor and cached by file content."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.file_facts import KEY_BYTES, FileFacts, facts_of, file_facts
from chunkers.file_work import Listed, Work, WorkedFile, using_worker
from chunkers.languages import GRAMMAR_PACK
from chunkers.sources import Repository
from evaluation.experiment.blocks import even_blocks, is_little
from evaluation.experiment.code import code_of
from evaluation.experiment.environment import package_version
from evaluation.experiment.executors import Executor
from evaluation.experiment.packs import Packs
from evaluation.experiment.store import Store

_PORTIONS, _SMALLEST = 64, 100
"""The number of tasks that file names are divided into, and the smallest number of files in one."""
_SPARE = 100
"""Files added to a repository's own count, so that a few new ones count as few even in a small one."""


class _Portion(NamedTuple):
    """Some new files of a repository, and the work to do on them."""

    files: Repository
    expected: tuple[FileFacts, ...]
    kind: str
    work: Work


@contextmanager
def spread_work(store: Store, executor: Executor) -> Iterator[None]:
    """Spread the work over files while the block runs."""
    with using_worker(_Spread(store, executor)):
        yield


@dataclass(frozen=True)
class _Spread:
    """Has files read and worked on by an executor; small jobs are done here while no worker has been started."""

    store: Store
    executor: Executor

    def look(self, listed: Listed) -> list[FileFacts]:
        """Return the facts of each file, read now: contents decide, so nothing of it is cached."""
        portions = listed.portions(_PORTIONS, least=_SMALLEST) if self.executor.elsewhere else []
        doers = self._doers(little=len(portions) < 2 or self._has_seen(listed.names()))
        if not doers.elsewhere:
            return listed.look()
        found: dict[int, list[FileFacts]] = {}
        for outcome in doers.map(_look, list(enumerate(portions))):
            if outcome.value is None:
                raise outcome.exception
            found[outcome.task[0]] = outcome.value
        return [file for number in sorted(found) for file in found[number]]

    def work(self, repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:
        """Yield the results in file order; a file is read only if its content has no record."""
        files = facts_of(repository)
        keys = [file.key for file in files]
        kept = Packs(self.store, kind, _inputs(work))
        records = kept.find(keys)
        new = [file for file, key in zip(files, keys, strict=True) if key not in records]
        doers = self._doers(little=is_little(len(new), len(files) + _SPARE))
        for outcome in doers.map(functools.partial(_do, self.store), _portions(repository, new, kind, work)):
            if outcome.value is None:
                raise outcome.exception
            records |= outcome.value
        if new:
            kept.merge()
        return (WorkedFile(file, records[key]) for file, key in zip(files, keys, strict=True))

    def _doers(self, *, little: bool) -> Executor:
        # Starting processes would take longer than doing a small job here.
        return self.executor.for_small_jobs() if little else self.executor

    def _has_seen(self, names: Sequence[str]) -> bool:
        """Return whether most files of these names were there in an earlier run, and record those that were not."""
        seen = Packs(self.store, "seen", {})
        keys = [hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:KEY_BYTES] for name in names]
        new = set(keys) - seen.find(keys).keys()
        if new:
            seen.add(dict.fromkeys(new, b""))
            seen.merge()
        return is_little(len(new), len(names) + _SPARE)


def _look(portion: tuple[int, Listed]) -> list[FileFacts]:
    return portion[1].look()


def _portions(repository: Repository, new: Sequence[FileFacts], kind: str, work: Work) -> list[_Portion]:
    """Return new files in blocks, if the repository can be divided: a task names its files and carries none."""
    only = getattr(repository, "only", None)
    blocks = even_blocks([file.size for file in new]) if only else [range(len(new))] if new else []
    parts = [tuple(new[block.start : block.stop]) for block in blocks]
    return [_Portion(only([file.path for file in part]) if only else repository, part, kind, work) for part in parts]


def _do(store: Store, portion: _Portion) -> dict[bytes, bytes]:
    """Return key → record of every requested file, and store them."""
    wanted = {file.key: file.path for file in portion.expected}
    made: dict[bytes, bytes] = {}
    for source in portion.files.files():
        key = file_facts(source).key
        if key in wanted and key not in made:
            made[key] = portion.work(source)
    for path in (path for key, path in wanted.items() if key not in made):
        raise UsageError(
            f"{portion.files.name}/{path} has changed since the dataset was loaded: run again, and leave it as it is "
            "meanwhile"
        )
    Packs(store, portion.kind, _inputs(portion.work)).add(made)
    return made


def _inputs(work: Any) -> dict[str, Any]:  # noqa: ANN401 - a function, or a partial of one
    """Return what determines the result of the work on a file."""
    functions = (work.func, *work.args) if isinstance(work, functools.partial) else (work,)
    return {
        "work": [f"{each.__module__}.{each.__qualname__}" for each in functions],
        "versions": {"tree-sitter": package_version("tree-sitter"), "grammars": GRAMMAR_PACK},
        "code": [code_of(each.__module__) for each in functions],
    }
