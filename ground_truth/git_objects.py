"""Checks a repository's objects before git opens any: on a pipe among them it would hang forever."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from chunkers.errors import UsageError

_DEPTH = 5
"""How deeply repositories may borrow from one another, as far as git follows them."""
_LARGEST_LIST = 2**20


def check_objects(folder: Path) -> None:
    """Raise if a repository holds or borrows an object that is neither a file nor a folder."""
    waiting = [(folder, 0)]
    seen: set[Path] = set()
    while waiting:
        place, depth = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        _check_folder(place, _state(place))
        if depth < _DEPTH:
            waiting += [(other, depth + 1) for other in _borrowed(place) if other.is_dir()]


@functools.lru_cache(maxsize=256)
def _check_folder(folder: Path, _state: tuple[int, ...]) -> None:
    """Check the folder once per process, unless names in it have been added or removed."""
    for path in _special_files(folder):
        raise UsageError(f"{path} is neither a file nor a folder: clone the repository again")


def is_own_file(path: Path) -> bool:
    """Return whether it is a regular file itself: what a link leads to is no part of the repository."""
    return path.is_file() and not path.is_symlink()


def _state(folder: Path) -> tuple[int, ...]:
    return tuple(place.stat().st_mtime_ns for place in (folder, folder / "pack", folder / "info") if place.is_dir())


def _special_files(folder: Path, depth: int = 2) -> Iterator[str]:
    """Yield what is neither file nor folder, also behind a link; git descends three folders deep."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if depth:
                    yield from _special_files(Path(entry.path), depth - 1)
            elif not _is_plain(entry):
                yield entry.path


def _is_plain(entry: os.DirEntry[str]) -> bool:
    """Return whether git can open it without blocking; git ignores a dangling link."""
    return entry.is_file() or entry.is_dir() or not Path(entry.path).exists()


def _borrowed(folder: Path) -> list[Path]:
    """Return the folders whose objects this one borrows."""
    file = folder / "info" / "alternates"
    if not is_own_file(file):
        if file.is_symlink():  # git would follow it, and complain with the words of what it leads to
            raise UsageError(f"{file} is a symbolic link: clone the repository again")
        return []
    with file.open("rb") as handle:
        lines = handle.read(_LARGEST_LIST).decode("utf-8", "surrogateescape").splitlines()
    if any(line.startswith('"') or "\0" in line for line in lines):
        raise UsageError(f"{file} quotes a path: give the repository that it names itself")
    return [Path(os.path.normpath(folder / line)) for line in lines if line and not line.startswith("#")]
