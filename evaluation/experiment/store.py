"""Finished work by content key: an entry that exists is complete, and can be verified."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import math
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple, TypeVar
from zipfile import BadZipFile

from chunkers.errors import UsageError
from chunkers.input_files import open_input
from chunkers.plain_text import one_line
from chunkers.sharing import share
from evaluation.atomic import checksum, sync

T = TypeVar("T")
log = logging.getLogger(__name__)
_MANIFEST = "manifest.json"
_DRAFT = ".draft-"
_DIGEST = re.compile(r"[0-9a-f]{32}\Z")
_DRAFT_NAME = re.compile(r"\.draft-(?:[a-z0-9_]{8}|[0-9a-f]{16})\Z")
_LARGEST_MANIFEST = 64 * 2**20
# Anything wrong with a file of the store raises one of these; so would a bug in a stage, which then counts as a miss.
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, EOFError, BadZipFile,
               SyntaxError, TokenError, UsageError)  # fmt: skip
_ABANDONED = 86_400
"""Seconds after which a draft counts as abandoned."""


@dataclass(frozen=True, slots=True)
class StageKey:
    """What determines a stage's output; its hash names the entry."""

    stage: str
    inputs: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The entry's name."""
        text = json.dumps({"stage": self.stage, **self.inputs}, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Entry(NamedTuple):
    """An entry and its key."""

    folder: Path
    inputs: Mapping[str, Any]


class _Manifest(NamedTuple):
    """An entry's description of itself."""

    stage: str
    inputs: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The name this entry must have: computed from the stored inputs, not from what a field claims."""
        return StageKey(self.stage, self.inputs).digest


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of entries, safe for several processes and machines that share it."""

    root: Path

    def folder(self, key: StageKey) -> Path:
        """Return the folder of the entry, whether or not it exists."""
        return self.root / key.stage / key.digest

    def has(self, key: StageKey) -> bool:
        """Return whether there is an entry whose manifest has this key; its files are verified when it is read."""
        try:
            return _read_manifest(self.folder(key)).digest == key.digest
        except _UNREADABLE:
            return False

    def get(self, key: StageKey, read: Callable[[Path], T]) -> T | None:
        """Return the content of the entry, or None if it is absent, damaged or has another key; then it is dropped."""
        folder = self.folder(key)
        try:
            if not (folder / _MANIFEST).is_file():
                return None
            _verify_once(folder, (folder / _MANIFEST).stat().st_mtime_ns)
            self.touch(folder)
            return read(folder)
        except _UNREADABLE as error:
            log.warning("cache entry %s/%s is damaged or foreign (%s) and is made again", key.stage, key.digest, error)
            _remove(folder)
            return None

    def names(self, stage: str) -> list[str]:
        """Return the names of a stage's entries, in order."""
        return sorted(path.name for path in _entries(self.root / stage))

    def read_all(self, stage: str, read: Callable[[Path], T], names: Iterable[str] | None = None) -> Iterator[T]:
        """Yield the contents of a stage's entries, all or those of these names; damaged or foreign ones are dropped.

        This does not count as use: callers that use something from an entry call `touch`.
        """
        for name in self.names(stage) if names is None else names:
            folder = self.root / stage / name
            path = folder / _MANIFEST
            try:
                _verify_once(folder, path.stat().st_mtime_ns)
                found = read(folder)
            except FileNotFoundError:
                continue  # dropped by another process
            except _UNREADABLE as error:
                log.warning("cache entry %s/%s is damaged or foreign (%s) and is dropped", stage, folder.name, error)
                _remove(folder)
                continue
            yield found

    @staticmethod
    def touch(folder: Path) -> None:
        """Mark an entry as used: pruning looks at the last use."""
        with contextlib.suppress(PermissionError, FileNotFoundError):  # owned by another user, or just pruned
            os.utime(folder)

    def put(self, key: StageKey, write: Callable[[Path], None], *, lasting: bool = True) -> None:
        """Write the entry under a temporary name and move it into place; the first writer wins.

        An entry that will soon be joined with others need not be ``lasting``: it survives a kill, as all do, but is not
        flushed to disk, which takes longer than computing it. After a power failure, its checksums show it, and it is
        recomputed.
        """
        home, draft = self.root / key.stage, self.draft(key.stage)
        try:
            with self.writing():
                write(draft)
                sums = {file.name: checksum(file) for file in sorted(draft.iterdir())}
                manifest = {"version": 1, "stage": key.stage, "inputs": key.inputs, "files": sums}
                (draft / _MANIFEST).write_text(json.dumps(manifest, indent=1, default=str), "utf-8")
                for file in draft.iterdir() if lasting else ():
                    sync(file)
                share(draft)
                try:
                    draft.rename(self.folder(key))
                except OSError:
                    if not self.has(key):  # what is in the way is no entry of this key
                        _remove(self.folder(key))
                        draft.rename(self.folder(key))
                if lasting:
                    sync(home)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def draft(self, stage: str) -> Path:
        """Return a new folder that belongs to no entry; `sweep` removes it if its writer was killed."""
        home = self.root / stage
        with self.writing():
            home.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=_DRAFT, dir=home))

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Raise a user error where writing to the store fails in the block."""
        try:
            yield
        except OSError as error:
            # numpy says what it could not write, but has no error number.
            raise UsageError(f"cannot write to the cache in {self.root}: {error.strerror or error}") from error

    def drop(self, key: StageKey) -> None:
        """Remove the entry, if there is one."""
        self.remove(self.folder(key))

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove an entry or a draft by its folder, if it exists; a kill midway leaves an old draft."""
        _remove(folder)

    def tidy(self) -> None:
        """Remove the empty folders of stages."""
        for home in self.root.glob("*"):
            with contextlib.suppress(OSError):  # not empty
                home.rmdir()

    def sweep(self) -> None:
        """Remove what killed runs have left: drafts not touched for a day."""
        for draft in self.abandoned():
            _remove(draft)

    def folders(self) -> list[Path]:
        """Return the entry folders of all stages."""
        return sorted(path for home in self._homes() for path in _entries(home))

    def unused(self, since: float) -> list[Path]:
        """Return the entries that were neither read nor written since then."""
        return [folder for folder in self.folders() if _used(folder) < since]

    def drafts(self) -> list[Path]:
        """Return the drafts: entries being written, and what kills left of writing and removing."""
        return sorted(
            path for home in self._homes() for path in home.glob(f"{_DRAFT}*") if _DRAFT_NAME.match(path.name)
        )

    def abandoned(self, *, untouched_since: float = math.inf) -> list[Path]:
        """Return the drafts not touched since then, nor for a day: no run is writing them."""
        since = min(untouched_since, time.time() - _ABANDONED)
        return [draft for draft in self.drafts() if _touched(draft) < since]

    def spoiled(self) -> list[Path]:
        """Return the folders in an entry's place without a manifest: no process reads or writes them any more."""
        # A folder with another name was never an entry: it may belong to a user who calls a folder `stages`.
        places = sorted(path for home in self._homes() for path in _places(home))
        entries = set(self.folders())  # checked last: an entry may have been put meanwhile
        return [place for place in places if place not in entries and place.is_dir()]

    def damaged(self) -> list[Path]:
        """Return the entries that differ from what was written or have another name; every byte is read."""
        unsound = [folder for folder in self.folders() if not _is_sound(folder) and folder.is_dir()]
        return sorted({*unsound, *self.spoiled()})

    def entries(self, stage: str) -> Iterator[Entry]:
        """Yield the entries of a stage, newest first."""
        for folder in sorted(_entries(self.root / stage), key=_written, reverse=True):
            with contextlib.suppress(*_UNREADABLE):  # unreadable ones are dropped when requested by key
                yield Entry(folder, _read_manifest(folder).inputs)

    def _homes(self) -> list[Path]:
        """Return the folders of all stages; what a link leads to is not removed with the cache."""
        return [path for path in self.root.glob("*") if path.is_dir() and not path.is_symlink()]


def _places(home: Path) -> list[Path]:
    """Return the folders of a stage that are named like entries: any other may be a user's, and is left alone."""
    return [path for path in home.glob("*") if _DIGEST.match(path.name) and path.is_dir()]


def _entries(home: Path) -> list[Path]:
    return [path for path in _places(home) if (path / _MANIFEST).exists()]


def _remove(folder: Path) -> None:
    """Free the entry's place at once, even of another user's entry or a link, and remove what permissions allow."""
    gone = folder.parent / f"{_DRAFT}{secrets.token_hex(8)}"
    try:
        folder.rename(gone)
    except OSError:
        gone = folder
    if gone.is_dir() and not gone.is_symlink():
        shutil.rmtree(gone, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            gone.unlink()


@functools.lru_cache(maxsize=10_000)
def _verify_once(folder: Path, _written: int) -> None:
    """Verify this version of the entry once per process; the parts of a phase read the same entry."""
    _verify(folder)


def _is_sound(folder: Path) -> bool:
    try:
        _verify(folder)
    except _UNREADABLE:
        return False
    return True


def _verify(folder: Path) -> None:
    """Raise unless the entry's key matches its folder's name, and its files are as they were written."""
    manifest = _read_manifest(folder)
    if manifest.digest != folder.name or manifest.stage != folder.parent.name:
        raise ValueError(f"it is the entry {one_line(f'{manifest.stage}/{manifest.digest}', limit=100)}")
    held = {file.name for file in folder.iterdir() if not file.name.startswith(".")} - {_MANIFEST}
    if held != manifest.files.keys():
        raise ValueError(f"its files are {', '.join(sorted(held)) or 'none'}")
    for name, written in manifest.files.items():
        if checksum(folder / name) != written:
            raise ValueError(f"{name} has changed")


def _read_manifest(folder: Path) -> _Manifest:
    with open_input(folder / _MANIFEST) as file:
        text = file.read(_LARGEST_MANIFEST + 1)
    found = json.loads(text)
    if len(text) > _LARGEST_MANIFEST or not isinstance(found, dict) or found.get("version") != 1:
        raise ValueError("its manifest is malformed")
    stage, inputs, files = found.get("stage"), found.get("inputs"), found.get("files")
    if not isinstance(stage, str) or not isinstance(inputs, dict) or not isinstance(files, dict):
        raise TypeError("its manifest is malformed")
    return _Manifest(stage, inputs, files)


def _touched(draft: Path) -> float:
    """Return when the draft or a file in it was last written to; one that has just disappeared counts as in use."""
    try:
        files = [*draft.iterdir()] if draft.is_dir() and not draft.is_symlink() else []
    except OSError:
        return math.inf
    return max(map(_used, [draft, *files]))


def _used(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return math.inf


def _written(folder: Path) -> float:
    try:
        return (folder / _MANIFEST).stat().st_mtime
    except OSError:
        return 0.0  # another process has dropped it
