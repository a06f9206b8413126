"""Upkeep of unpacked archives: what there is, and what nobody uses."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from pathlib import Path

from ground_truth.archives import sums_of

_ARCHIVE = re.compile(r"[0-9a-f]{20}\Z")
_DRAFT = re.compile(r"[0-9a-f]{20}\.[a-z0-9_]{8}\Z")
_ABANDONED = 86_400
"""Seconds after which no process is unpacking any more."""


def archives(home: Path) -> list[Path]:
    """Return the folders of unpacked archives; what a link leads to is not part of the cache."""
    return _folders(home, _ARCHIVE)


def drafts(home: Path) -> list[Path]:
    """Return the folders in which archives are being unpacked, or were when their process was killed."""
    return _folders(home, _DRAFT)


def unused(home: Path, *, since: float) -> list[Path]:
    """Return the archives that were not used since then, and the drafts that are also older than a day."""
    left = min(since, time.time() - _ABANDONED)
    return [
        *(each for each in archives(home) if _touched(each) < since),
        *(each for each in drafts(home) if _touched(each) < left),
    ]


def remove(folder: Path) -> None:
    """Remove an archive's folder or a draft; a kill midway leaves a folder that is no longer valid."""
    with contextlib.suppress(OSError):  # there is none, or it belongs to another user
        sums_of(folder).unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _folders(home: Path, name: re.Pattern[str]) -> list[Path]:
    return sorted(path for path in home.glob("*") if name.match(path.name) and path.is_dir() and not path.is_symlink())


def _touched(folder: Path) -> float:
    """Return when the folder was last used; one that has just disappeared counts as in use."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return time.time()
