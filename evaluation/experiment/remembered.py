"""A repository whose files stay in memory once they were read: masking and git make a second reading dear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chunkers.sources import Repository, Skipped
from chunkers.types import SourceFile


@dataclass
class Room:
    """Bytes that may still be kept, shared by the repositories of a dataset."""

    left: int = 64_000_000


@dataclass
class Remembered:
    """The same files as the repository inside, read from it once where there is room."""

    inner: Repository
    room: Room
    _held: dict[str, SourceFile] = field(default_factory=dict)
    _paths: tuple[str, ...] | None = None
    """All paths in order, where every file is held."""

    @property
    def name(self) -> str:
        """The name that queries refer to."""
        return self.inner.name

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What was left out, each with a reason."""
        return self.inner.skipped

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

    def _keep(self, source: SourceFile) -> SourceFile:
        if source.path not in self._held and len(source.data) <= self.room.left:
            self.room.left -= len(source.data)
            self._held[source.path] = source
        return self._held.get(source.path, source)
