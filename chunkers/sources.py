"""Where source files come from: a folder walked in a fixed order, with a reason for each file left out."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from chunkers.errors import UsageError
from chunkers.gitignore import Rules, read_rules
from chunkers.languages import DATA_LANGUAGES, language_of, name_decides
from chunkers.types import SourceFile
from chunkers.writable import is_writable

MAX_BYTES = 1_000_000
LARGEST_BYTES = 2**28
"""No larger file is read at all, whoever asks for it."""

_VENDORED = frozenset("node_modules bower_components vendor third_party site-packages __pycache__ venv".split())
_BUILT_AT_TOP = frozenset("build dist env".split())
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
        """What was left out, each with a reason."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order, reading one at a time."""

    def read(self, path: str) -> SourceFile | None:
        """Return one file as `files` yields it, or None where there is no such file."""


@dataclass(frozen=True)
class Folder:
    """The files of a folder on disk that a walk has kept."""

    name: str
    root: Path
    paths: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    transform: Callable[[SourceFile], SourceFile] | None = None
    """Applied to each file as it is read; it keeps every byte offset (masking)."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order."""
        return (self._read(path) for path in self.paths)

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None where the walk did not keep it."""
        return self._read(path) if path in self._known else None

    def portions(self, count: int, *, least: int) -> list[Folder]:
        """Return the folder in about so many portions, in order, each of at least so many files."""
        size = max(least, -(-len(self.paths) // count))
        starts = range(0, len(self.paths), size)
        return [dataclasses.replace(self, paths=self.paths[start : start + size], skipped=()) for start in starts]

    @functools.cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.paths)

    def _read(self, path: str) -> SourceFile:
        data = _content(self.root / path)
        source = SourceFile(path, data, language_of(path, data), self.name)
        return self.transform(source) if self.transform else source


def walk(
    root: Path,
    *,
    name: str = "",
    keep: Collection[str] = (),
    languages: Collection[str] = (),
) -> Folder:
    """Return the source files below a folder, or the one file given.

    Left out, with a reason: what ``.gitignore`` names, hidden and vendored folders, links, binary, minified and
    too-large files, data files, files whose name tells no language or is not UTF-8. A path in ``keep`` is left out
    only when it is binary or a link. ``languages`` restricts the walk to these.
    """
    if not root.exists():
        raise UsageError(f"{root} does not exist")
    if not root.is_dir():
        if not root.is_file():
            raise UsageError(f"{root} is neither a file nor a folder")
        return Folder(name or root.name, root.parent, (root.name,))
    paths: list[str] = []
    skipped: list[Skipped] = []
    for path, reason in _candidates(root):
        if (reason and (path not in keep or reason in _NEVER)) or (
            reason := _unfit(root / path, path, wanted=path in keep, languages=languages)
        ):
            skipped.append(Skipped(path, reason))
        else:
            paths.append(path)
    return Folder(name or root.resolve().name, root, tuple(sorted(paths)), tuple(sorted(skipped)))


def read_many(repository: Repository, paths: Sequence[str]) -> Iterator[SourceFile | None]:
    """Yield several files as `read` returns them; a repository that reads them faster together has this as a method."""
    together: Callable[[Sequence[str]], Iterator[SourceFile | None]] | None = getattr(repository, "read_many", None)
    return together(paths) if together else map(repository.read, paths)


def fingerprint(repository: Repository) -> str:
    """Return a hash of the repository's files as they are indexed."""
    return fingerprint_of(repository.files())


def fingerprint_of(sources: Iterable[SourceFile]) -> str:
    """Return a hash of these files, in their order."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(f"{source.path}\0{source.language}\0{len(source.data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(source.data)
    return digest.hexdigest()


def unfit_path(path: str) -> str:
    """Return why a folder of the path keeps it out of a corpus, or nothing; for trees that are not on disk."""
    parts = path.split("/")[:-1]
    return _unwritable(path) or next(
        (why for n, name in enumerate(parts) if (why := _folder_reason(name, "/".join(parts[: n + 1]), ()))), ""
    )


def unfit_content(path: str, data: bytes, *, wanted: bool = False, languages: Collection[str] = ()) -> str:
    """Return why a file is not source text, or nothing; a wanted file is left out only when it is binary."""
    language = language_of(path, data)
    if not wanted and (reason := _unwanted(language, len(data), languages)):
        return reason
    if b"\0" in data[:_SNIFF]:
        return "binary"
    return "minified" if not wanted and _is_minified(path, language, data) else ""


def unfit_size(size: int, *, wanted: bool = False) -> str:
    """Return why a file of this size is not read, or nothing; a wanted file may be larger."""
    limit = LARGEST_BYTES if wanted else MAX_BYTES
    return f"over {limit // 1000} kB" if size > limit else ""


_NEVER = ("symbolic link", "not a file")
"""Reasons that hold for a wanted path too: what a link leads to is not the repository's."""


class _Open(NamedTuple):
    """A folder that is being walked: what is left of it, and the rules that hold inside."""

    entries: Iterator[os.DirEntry[str]]
    folder: str
    ignores: tuple[Rules, ...]


def _candidates(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, reason to skip or "") in path order; a folder that is left out is one row, ending in a slash."""
    try:
        walked = [_enter(root, "", ())]
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from None
    while walked:
        entries, folder, ignores = walked[-1]
        entry = next(entries, None)
        if entry is None:
            walked.pop()
            continue
        path = folder + entry.name
        if entry.is_symlink():
            yield path, "symbolic link"
        elif entry.is_dir():
            if reason := _folder_reason(entry.name, path + "/", ignores):
                yield path + "/", reason
                continue
            try:
                walked.append(_enter(root, path + "/", ignores))
            except OSError as error:
                yield path + "/", f"cannot be read ({error.strerror})"
        elif not entry.is_file():
            yield path, "not a file"
        else:
            yield path, "ignored by .gitignore" if _ignored(path, ignores) else _unwritable(path)


def _enter(root: Path, folder: str, inherited: tuple[Rules, ...]) -> _Open:
    names = (".gitignore",) if folder else (".git/info/exclude", ".gitignore")
    found = (read_rules(root / folder / name, prefix=folder) for name in names)
    with os.scandir(root / folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    return _Open(iter(ordered), folder, (*inherited, *(rules for rules in found if rules)))


def _ignored(path: str, ignores: Sequence[Rules]) -> bool:
    """Return the verdict of the deepest file that has one, as git does."""
    for ignore in reversed(ignores):
        if (verdict := ignore.verdict(path)) is not None:
            return verdict
    return False


def _folder_reason(name: str, path: str, ignores: Sequence[Rules]) -> str:
    if name.startswith("."):
        return "hidden folder"
    built = path.removesuffix("/") in _BUILT_AT_TOP or name.endswith((".egg-info", ".dist-info"))
    if built or name in _VENDORED:
        return "vendored or built"
    return "ignored by .gitignore" if _ignored(path, ignores) else ""


def _unwritable(path: str) -> str:
    """Return why no result file could hold the path, or nothing."""
    return "" if is_writable(path) else "name is not UTF-8"


def _unfit(file: Path, path: str, *, wanted: bool, languages: Collection[str]) -> str:
    """Return why a file is not source text, or nothing."""
    try:
        # Name and size are asked first: what they rule out is never read.
        size = file.stat().st_size
        if not wanted and name_decides(path) and (reason := _unwanted(language_of(path), size, languages)):
            return reason
        if reason := unfit_size(size, wanted=wanted):
            return reason
        return unfit_content(path, _content(file), wanted=wanted, languages=languages)
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _unwanted(language: str | None, size: int, languages: Collection[str]) -> str:
    if language is None:
        return "no known language"
    if language in DATA_LANGUAGES:
        return "data file"
    if languages and language not in languages:
        return "other language"
    return unfit_size(size)


def _content(file: Path) -> bytes:
    """Return the file's bytes; it may have grown since its size was asked."""
    with file.open("rb") as handle:
        data = handle.read(min(os.fstat(handle.fileno()).st_size, LARGEST_BYTES) + 1)
    if len(data) > LARGEST_BYTES:
        raise UsageError(f"{file} is larger than {LARGEST_BYTES // 10**6} MB: it is no source code")
    return data


def _is_minified(path: str, language: str | None, data: bytes) -> bool:
    if ".min." in path.rsplit("/", 1)[-1]:
        return True
    return language in _MINIFIABLE and max(map(len, data.split(b"\n"))) > _LONG_LINE
