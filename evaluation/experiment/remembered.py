"""Repositories whose files are kept in memory up to a bound: masking makes a second reading dear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chunkers.sources import Repository, Skipped
from chunkers.types import SourceFile

BOUND = 64_000_000
"""Bytes of source that all repositories of a dataset keep together."""


@dataclass
class Memory:
    """Files by repository and path, oldest first."""

    bound: int = BOUND
    held: int = 0
    files: dict[tuple[str, str], SourceFile] = field(default_factory=dict)

    def add(self, key: tuple[str, str], source: SourceFile) -> None:
        """Keep the file; the oldest ones make room."""
        self.files[key] = source
        self.held += len(source.data)
        while self.held > self.bound and len(self.files) > 1:
            self.held -= len(self.files.pop(next(iter(self.files))).data)

    def has_room(self, source: SourceFile) -> bool:
        """Return whether the file can be kept without losing another."""
        return self.held + len(source.data) <= self.bound


@dataclass
class Remembered:
    """A repository that reads each file once, as long as the memory has room."""

    repository: Repository
    memory: Memory
    paths: tuple[str, ...] | None = None
    """All its files, once they have been seen."""

    @property
    def name(self) -> str:
        """The name that queries refer to."""
        return self.repository.name

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What was left out."""
        return self.repository.skipped

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order; from memory only where all are there, since a stream must not push out."""
        if self.paths is not None and all((self.name, path) in self.memory.files for path in self.paths):
            yield from [self.memory.files[self.name, path] for path in self.paths]
            return
        paths = []
        for source in self.repository.files():
            key = (self.name, source.path)
            if key not in self.memory.files and self.memory.has_room(source):
                self.memory.add(key, source)
            paths.append(source.path)
            yield source
        self.paths = tuple(paths)

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None where there is no such file."""
        key = (self.name, path)
        if key not in self.memory.files:
            source = self.repository.read(path)
            if source is None:
                return None
            self.memory.add(key, source)
        return self.memory.files[key]
