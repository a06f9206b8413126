"""A bounded in-memory cache of files: git and masking make reading a file again expensive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chunkers.file_facts import FileFacts, facts_of, file_facts
from chunkers.sources import Repository, Skipped, read_many
from chunkers.types import SourceFile

K = TypeVar("K", bound=Hashable)
_BYTES = 64_000_000


@dataclass
class FileMemory(Generic[K]):
    """The most recently read contents."""

    bytes_kept: int = 0
    _kept: dict[K, bytes] = field(default_factory=dict)

    def read(self, key: K, read: Callable[[K], bytes]) -> bytes:
        """Return the contents, read now unless cached; the oldest are evicted."""
        if key not in self._kept:
            data = read(key)
            self._kept[key] = data
            self.bytes_kept += len(data)
            while self.bytes_kept > _BYTES and len(self._kept) > 1:
                self.bytes_kept -= len(self._kept.pop(next(iter(self._kept))))
        return self._kept[key]


@dataclass
class MemoryLimit:
    """Bytes that may still be cached, shared by the repositories of a dataset."""

    left: int = _BYTES


@dataclass
class MemoryRepository:
    """The same files as the wrapped repository, each read from it once while the limit allows."""

    inner: Repository
    limit: MemoryLimit
    _held: dict[str, SourceFile] = field(default_factory=dict)
    _paths: tuple[str, ...] | None = None
    """All paths in order, if every file is cached."""

    @property
    def name(self) -> str:
        """The name that queries refer to."""
        return self.inner.name

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What was skipped, each with a reason."""
        return self.inner.skipped

    def facts(self) -> Sequence[FileFacts]:
        """Return the files in path order; they are read if the wrapped repository does not know their facts."""
        if hasattr(self.inner, "facts"):
            return facts_of(self.inner)
        return [file_facts(source) for source in self.files()]

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order."""
        if self._paths is not None:
            yield from (self._held[path] for path in self._paths)
            return
        paths = []
        for source in self.inner.files():
            paths.append(source.path)
            yield self._keep(source)
        if len(paths) == len(self._held):
            self._paths = tuple(paths)

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None where there is no such file."""
        if path in self._held:
            return self._held[path]
        source = self.inner.read(path)
        return None if source is None else self._keep(source)

    def read_many(self, paths: Sequence[str]) -> Iterator[SourceFile | None]:
        """Yield several files."""
        if all(path in self._held for path in paths):
            return (self._held[path] for path in paths)
        found = read_many(self.inner, paths)
        return (None if source is None else self._keep(source) for source in found)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle where the files come from, not their cached contents."""
        return MemoryRepository, (self.inner, MemoryLimit())

    def _keep(self, source: SourceFile) -> SourceFile:
        if source.path not in self._held and len(source.data) <= self.limit.left:
            self.limit.left -= len(source.data)
            self._held[source.path] = source
        return self._held.get(source.path, source)
