"""Finished work by content key: an entry that is present is complete, and can be checked."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from chunkers.errors import UsageError
from evaluation.atomic import checksum, sync

T = TypeVar("T")
log = logging.getLogger(__name__)
_MANIFEST = "manifest.json"
_DRAFT = ".draft-"
_ABANDONED = 86_400
"""Seconds after which a draft is nobody's."""


@dataclass(frozen=True, slots=True)
class StageKey:
    """What decides a stage's output; the hash of it names the entry."""

    stage: str
    inputs: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The entry's name."""
        text = json.dumps({"stage": self.stage, **self.inputs}, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Entry(NamedTuple):
    """An entry and what decided it."""

    folder: Path
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of entries, safe for several processes and machines that share it."""

    root: Path

    def folder(self, key: StageKey) -> Path:
        """Return where the entry is or will be."""
        return self.root / key.stage / key.digest

    def has(self, key: StageKey) -> bool:
        """Return whether the entry is there."""
        return (self.folder(key) / _MANIFEST).is_file()

    def get(self, key: StageKey, read: Callable[[Path], T]) -> T | None:
        """Return what the entry holds, or None where it is absent or damaged; a damaged entry is dropped."""
        if not self.has(key):
            return None
        folder = self.folder(key)
        try:
            _verify_once(folder, (folder / _MANIFEST).stat().st_mtime_ns)
            with contextlib.suppress(PermissionError):  # a store that others fill
                os.utime(folder)  # pruning asks when an entry was last of use
            return read(folder)
        except (OSError, ValueError, KeyError) as error:
            log.warning("cache entry %s/%s is damaged (%s) and is made again", key.stage, key.digest, error)
            shutil.rmtree(folder, ignore_errors=True)
            return None

    def put(self, key: StageKey, write: Callable[[Path], None]) -> None:
        """Write the entry under a temporary name and move it into place; the first writer wins."""
        home = self.root / key.stage
        try:
            home.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=home))
        except OSError as error:
            raise UsageError(f"cannot write to the cache in {self.root}: {error.strerror}") from error
        try:
            write(draft)
            sums = {file.name: checksum(file) for file in sorted(draft.iterdir())}
            manifest = {"version": 1, "stage": key.stage, "inputs": key.inputs, "files": sums}
            (draft / _MANIFEST).write_text(json.dumps(manifest, indent=1, default=str), "utf-8")
            for file in draft.iterdir():
                sync(file)
            try:
                draft.rename(self.folder(key))
            except OSError:
                if not self.has(key):
                    raise
            sync(home)
        except OSError as error:
            raise UsageError(f"cannot write to the cache in {self.root}: {error.strerror}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def drop(self, key: StageKey) -> None:
        """Remove the entry, if there is one."""
        shutil.rmtree(self.folder(key), ignore_errors=True)

    def sweep(self) -> None:
        """Remove what killed runs have left: drafts that nobody has touched for a day."""
        for draft in self.root.glob(f"*/{_DRAFT}*"):
            with contextlib.suppress(FileNotFoundError):  # another run sweeps too
                if draft.stat().st_mtime < time.time() - _ABANDONED:
                    shutil.rmtree(draft, ignore_errors=True)

    def folders(self) -> list[Path]:
        """Return where the entries of all stages are."""
        return sorted(path.parent for path in self.root.glob(f"*/[!.]*/{_MANIFEST}"))

    def damaged(self) -> list[Path]:
        """Return the entries whose files are not as they were written; every byte is read."""
        return [folder for folder in self.folders() if not _is_sound(folder)]

    def entries(self, stage: str) -> Iterator[Entry]:
        """Yield the entries of a stage, newest first."""
        manifests = (self.root / stage).glob(f"[!.]*/{_MANIFEST}")
        for path in sorted(manifests, key=lambda path: path.stat().st_mtime, reverse=True):
            yield Entry(path.parent, json.loads(path.read_text("utf-8"))["inputs"])


@functools.lru_cache(maxsize=10_000)
def _verify_once(folder: Path, _written: int) -> None:
    """Verify the entry that was written then, unless this process has; the parts of a phase read the same entry."""
    _verify(folder)


def _is_sound(folder: Path) -> bool:
    try:
        _verify(folder)
    except (OSError, ValueError, KeyError):
        return False
    return True


def _verify(folder: Path) -> None:
    manifest = json.loads((folder / _MANIFEST).read_text("utf-8"))
    for name, written in manifest["files"].items():
        if checksum(folder / name) != written:
            raise ValueError(f"{name} has changed")
