"""Work on single files of a repository: a run may distribute it, and cache the result per content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, Protocol

from chunkers.file_facts import FileFacts, file_facts

if TYPE_CHECKING:
    from chunkers.sources import Repository
    from chunkers.types import SourceFile

Work = Callable[["SourceFile"], bytes]
"""A function of a module, or a partial of one over others, from a file to a record of its result.

The result must depend only on path, language and content of the file.
"""


class WorkedFile(NamedTuple):
    """A file, and the record that the work made of it."""

    facts: FileFacts
    record: bytes


class Listed(Protocol):
    """Files whose names are known."""

    def names(self) -> Sequence[str]:
        """Return names that identify the files globally."""

    def portions(self, count: int, *, least: int) -> Sequence[Listed]:
        """Return the files in about this many portions, in order, each with at least ``least`` files."""

    def look(self) -> list[FileFacts]:
        """Read the files and return the facts of each, in order; unfit ones with the reason."""


class Worker(Protocol):
    """Does work on files."""

    def look(self, listed: Listed) -> list[FileFacts]:
        """Return the facts of each file, read now."""

    def work(self, repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:
        """Yield the files in order."""


class Here:
    """Does all work in this process, one file at a time."""

    def look(self, listed: Listed) -> list[FileFacts]:
        """Return the facts of each file, read now."""
        return listed.look()

    def work(self, repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:  # noqa: ARG002 - as every worker
        """Yield the files in order."""
        return (WorkedFile(file_facts(source), work(source)) for source in repository.files())


_worker: ContextVar[Worker] = ContextVar("_worker", default=Here())  # noqa: B039 - it has no state


@contextmanager
def using_worker(worker: Worker) -> Iterator[None]:
    """Use this worker for work on files while the block runs."""
    token = _worker.set(worker)
    try:
        yield
    finally:
        _worker.reset(token)


def look_at(listed: Listed) -> list[FileFacts]:
    """Return the facts of each file, read now, in order."""
    return _worker.get().look(listed)


def each_file(repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:
    """Yield every file of a repository in order, with its record; ``kind`` names the work."""
    return _worker.get().work(repository, kind, work)
