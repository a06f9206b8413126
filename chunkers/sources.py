"""Repositories of source files: a folder walked in a fixed order, with a reason for each skipped file."""

from __future__ import annotations

import dataclasses
import errno
import functools
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from chunkers.errors import UsageError
from chunkers.file_facts import FileFacts, file_facts, unfit_file
from chunkers.file_work import look_at
from chunkers.languages import DATA_LANGUAGES, language_of, name_decides
from chunkers.listing import NEVER, list_names
from chunkers.types import SourceFile

T = TypeVar("T")
MAX_BYTES = 1_000_000
LARGEST_BYTES = 2**28
"""No larger file is ever read."""

_MINIFIABLE = frozenset({"javascript", "css", "html", "typescript", "json", "xml"})
_LONG_LINE = 5_000
_SNIFF = 8_192


class Skipped(NamedTuple):
    """A file or folder that is not in the corpus, and why."""

    path: str
    reason: str


class Repository(Protocol):
    """A named collection of source files that can be read more than once."""

    @property
    def name(self) -> str:
        """The name that queries refer to."""

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What was skipped, each with a reason."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order, reading one at a time."""

    def read(self, path: str) -> SourceFile | None:
        """Return one file as `files` yields it, or None if there is no such file."""


@dataclass(frozen=True)
class Folder:
    """The files of a folder on disk that a walk has kept."""

    name: str
    root: Path
    paths: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    transform: Callable[[SourceFile], SourceFile] | None = None
    """Applied to each file as it is read; it preserves every byte offset (masking)."""
    walked: Mapping[str, FileFacts] = field(default_factory=dict, repr=False, compare=False)
    """Path → the file's facts at the time of the walk."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order; raise if one is gone."""
        return map(self._checked_file, self.paths)

    def facts(self) -> Sequence[FileFacts]:
        """Return the files in path order as they were when first read."""
        return self._facts

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None if the walk did not keep it or it is gone."""
        try:
            return self._read(path) if path in self._known else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def only(self, paths: Sequence[str]) -> Folder:
        """Return the folder with some of its files, without their cached facts."""
        return dataclasses.replace(self, paths=tuple(paths), skipped=(), walked={})

    def portions(self, count: int, *, least: int) -> list[Folder]:
        """Return the folder in about this many portions, in order, each with at least ``least`` files."""
        return [self.only(paths) for paths in portions(self.paths, count, least=least)]

    def names(self) -> list[str]:
        """Return the paths of the files, including the folder."""
        return names_below(self.root, self.paths)

    def look(self) -> list[FileFacts]:
        """Return the facts of each file, read now."""
        return [file_facts(source) for source in self.files()]

    @functools.cached_property
    def _facts(self) -> tuple[FileFacts, ...]:
        seen = {} if self.transform else self.walked
        return tuple(seen[path] for path in self.paths) if seen.keys() >= self._known else tuple(look_at(self))

    @functools.cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.paths)

    def _checked_file(self, path: str) -> SourceFile:
        source = self.read(path)
        if source is None:
            raise UsageError(f"{self.name}/{path} has gone since its folder was walked: run again")
        return source

    def _read(self, path: str) -> SourceFile:
        data = _content(f"{self.root}/{path}")
        source = SourceFile(path, data, language_of(path, data), self.name)
        return self.transform(source) if self.transform else source

    def __getstate__(self) -> dict[str, Any]:
        """Pickle where the files are, not their cached facts."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)} | {"walked": {}}


def names_below(root: Path, paths: Iterable[str]) -> list[str]:
    """Return paths, including their folder."""
    folder = root.resolve()
    return [f"{folder}/{path}" for path in paths]


def portions(files: tuple[T, ...], count: int, *, least: int) -> list[tuple[T, ...]]:
    """Return files in about this many portions, in order, each with at least ``least``."""
    size = max(least, -(-len(files) // count))
    return [files[start : start + size] for start in range(0, len(files), size)]


def walk(
    root: Path,
    *,
    name: str = "",
    keep: Collection[str] = (),
    languages: Collection[str] = (),
) -> Folder:
    """Return the source files below a folder, or the one file given.

    Skipped, with a reason: what ``.gitignore`` names, hidden and vendored folders, links, binary, minified and
    too-large files, data files, files whose name shows no language or is not UTF-8. A path in ``keep`` is skipped only
    if it is binary, a link, or over `LARGEST_BYTES`. ``languages`` restricts the walk to these.
    """
    if not root.exists():
        raise UsageError(f"{root} does not exist")
    if not root.is_dir():
        if not root.is_file():
            raise UsageError(f"{root} is neither a file nor a folder")
        return Folder(name or root.name, root.parent, (root.name,))
    skipped: list[Skipped] = []
    listed: list[str] = []
    for path, reason in list_names(root):
        if reason and (path not in keep or reason in NEVER):
            skipped.append(Skipped(path, reason))
        else:
            listed.append(path)
    wanted = frozenset(path for path in listed if path in keep)
    walked: dict[str, FileFacts] = {}
    for file in look_at(_Listing(root, tuple(listed), wanted, frozenset(languages))):
        if file.unfit:
            skipped.append(Skipped(file.path, file.unfit))
        else:
            walked[file.path] = file
    return Folder(name or root.resolve().name, root, tuple(sorted(walked)), tuple(sorted(skipped)), walked=walked)


@dataclass(frozen=True)
class _Listing:
    """Names below a folder, before any file is opened."""

    root: Path
    paths: tuple[str, ...]
    wanted: frozenset[str]
    languages: frozenset[str]

    def names(self) -> list[str]:
        """Return the paths of the files, including the folder."""
        return names_below(self.root, self.paths)

    def portions(self, count: int, *, least: int) -> list[_Listing]:
        """Return the names in about this many portions, in order, each with at least ``least``."""
        return [
            _Listing(self.root, paths, self.wanted.intersection(paths), self.languages)
            for paths in portions(self.paths, count, least=least)
        ]

    def look(self) -> list[FileFacts]:
        """Return the facts of each file, read now."""
        return [_look(f"{self.root}/{path}", path, path in self.wanted, self.languages) for path in self.paths]


def read_many(repository: Repository, paths: Sequence[str]) -> Iterator[SourceFile | None]:
    """Yield several files as `read` returns them; a repository that reads them faster together has this method."""
    together: Callable[[Sequence[str]], Iterator[SourceFile | None]] | None = getattr(repository, "read_many", None)
    return together(paths) if together else map(repository.read, paths)


def unfit_content(path: str, data: bytes, *, wanted: bool = False, languages: Collection[str] = ()) -> str:
    """Return why a file is not source text, or nothing; a requested file is skipped only if it is binary."""
    return _unfit(path, data, language_of(path, data), wanted=wanted, languages=languages)


def unfit_size(size: int, *, wanted: bool = False) -> str:
    """Return why a file of this size is not read, or nothing; a requested file may be larger."""
    limit = LARGEST_BYTES if wanted else MAX_BYTES
    return f"over {limit // 1000} kB" if size > limit else ""


def _look(file: str, path: str, wanted: bool, languages: Collection[str]) -> FileFacts:  # noqa: FBT001 - called for each file
    try:
        # Name and size are checked first: what they rule out is never read.
        size = os.stat(file).st_size  # noqa: PTH116 - a Path for each file takes longer than looking at it
        if not wanted and name_decides(path) and (reason := _unwanted(language_of(path), size, languages)):
            return unfit_file(path, reason)
        if reason := unfit_size(size, wanted=wanted):
            return unfit_file(path, reason)
        data = _content(file)
    except OSError as error:
        return unfit_file(path, f"unreadable: {error.strerror}")
    language = language_of(path, data)
    if reason := _unfit(path, data, language, wanted=wanted, languages=languages):
        return unfit_file(path, reason)
    return file_facts(SourceFile(path, data, language))


def _unfit(path: str, data: bytes, language: str | None, *, wanted: bool, languages: Collection[str]) -> str:
    if not wanted and (reason := _unwanted(language, len(data), languages)):
        return reason
    if b"\0" in data[:_SNIFF]:
        return "binary"
    return "minified" if not wanted and _is_minified(path, language, data) else ""


def _unwanted(language: str | None, size: int, languages: Collection[str]) -> str:
    if language is None:
        return "no known language"
    if language in DATA_LANGUAGES:
        return "data file"
    if languages and language not in languages:
        return "other language"
    return unfit_size(size)


def _content(file: str) -> bytes:
    """Return the file's bytes; it may have grown since its size was read."""
    # Without O_NONBLOCK, a pipe that has taken the file's place would block.
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(errno.ENOENT, "not a file any more", file)
        left = min(found.st_size, LARGEST_BYTES) + 1
        parts = []
        while left and (part := os.read(handle, left)):  # a read may return early
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    data = b"".join(parts)
    if len(data) > LARGEST_BYTES:
        raise UsageError(f"{file} is larger than {LARGEST_BYTES // 10**6} MB: it is no source code")
    return data


def _is_minified(path: str, language: str | None, data: bytes) -> bool:
    if ".min." in path.rsplit("/", 1)[-1]:
        return True
    return language in _MINIFIABLE and max(map(len, data.split(b"\n"))) > _LONG_LINE
