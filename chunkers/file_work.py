"""Work that looks at one file of a repository at a time: a run may spread it, and keep what came of each content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

from chunkers.sources import Repository
from chunkers.types import SourceFile

Work = Callable[[SourceFile], Any]
"""A function of a module, or a partial of one over others, from a file to what JSON can hold.

Path, language and content of the file decide what it makes.
"""


class WorkedFile(NamedTuple):
    """A file, and what the work made of it."""

    path: str
    language: str | None
    size: int
    value: Any


class Worker(Protocol):
    """Does work over all files of a repository."""

    def __call__(self, repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:
        """Yield the files in their order."""


def here(repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:  # noqa: ARG001 - as every worker
    """Do the work in this process, one file after the other."""
    return (worked(source, work(source)) for source in repository.files())


def worked(source: SourceFile, value: Any) -> WorkedFile:  # noqa: ANN401 - what JSON can hold
    """Return a file without its content, and what was made of it."""
    return WorkedFile(source.path, source.language, len(source.data), value)


_worker: ContextVar[Worker] = ContextVar("_worker", default=here)


@contextmanager
def done_by(worker: Worker) -> Iterator[None]:
    """Have work over files done by this worker while the block runs."""
    token = _worker.set(worker)
    try:
        yield
    finally:
        _worker.reset(token)


def each_file(repository: Repository, kind: str, work: Work) -> Iterator[WorkedFile]:
    """Yield every file of a repository in its order, with what the work makes of it; ``kind`` names the work."""
    return _worker.get()(repository, kind, work)
