"""The day each record of a pack was last used: a file outside the entry's checksums."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from pathlib import Path

import numpy as np

from chunkers.errors import UsageError
from chunkers.input_files import open_input

DAY = 86_400
_NAME = ".used"
"""The store does not count dot names among an entry's files."""
_DAYS = np.dtype("<u4")


def days_used(folder: Path, count: int) -> np.ndarray:
    """Return the last-used day of each record, counted from 1970; one that was never used has the day it was written.

    If another process has merged the entry meanwhile, nothing is known: its records get today.
    """
    try:
        with open_input(folder / _NAME) as file:
            days = np.frombuffer(file.read(count * _DAYS.itemsize + 1), dtype=_DAYS)
    except (OSError, ValueError, UsageError):
        days = np.zeros(count, dtype=_DAYS)
    if len(days) != count:  # not a pack
        days = np.zeros(count, dtype=_DAYS)
    try:
        written = int((folder / "manifest.json").stat().st_mtime // DAY)
    except OSError:
        written = int(time.time() // DAY)
    return np.where(days, days, written).astype(_DAYS)


def note_use(folder: Path, count: int, places: list[int]) -> None:
    """Mark these records as used today; if that cannot be written, they may be pruned early."""
    today = int(time.time() // DAY)
    with contextlib.suppress(OSError, ValueError):
        if not (folder / _NAME).exists():
            write_days(folder, np.zeros(count, dtype=_DAYS))
        found = (folder / _NAME).lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != count * _DAYS.itemsize:
            return  # a memory map would wait on a pipe, write through a link, and make a short file longer
        days = np.memmap(folder / _NAME, dtype=_DAYS, mode="r+", shape=(count,))
        # Processes that find records in one pack at the same time write to their own positions of one file.
        if (days[places] != today).any():
            days[places] = today


def write_days(folder: Path, days: np.ndarray) -> None:
    """Write the days of all records, unless another process has."""
    with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(dir=folder, prefix=_NAME) as draft:
        draft.write(days.astype(_DAYS).tobytes())
        draft.flush()
        os.link(draft.name, folder / _NAME)
