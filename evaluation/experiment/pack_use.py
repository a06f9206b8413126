"""When each record of a pack was last of use: a file beside those that the entry's checksums cover."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

import numpy as np

DAY = 86_400
_NAME = ".used"
"""The store does not count names with a dot among an entry's files."""
_DAYS = np.dtype("<u4")


def days_used(folder: Path, count: int) -> np.ndarray:
    """Return the day of each record, counted from 1970; one that was never used has the day of its writing.

    Of an entry that another process has merged meanwhile, nothing is known: its records have today.
    """
    try:
        days = np.fromfile(folder / _NAME, dtype=_DAYS)
    except OSError:
        days = np.zeros(count, dtype=_DAYS)
    if len(days) != count:  # it is no pack's
        days = np.zeros(count, dtype=_DAYS)
    try:
        written = int((folder / "manifest.json").stat().st_mtime // DAY)
    except OSError:
        written = int(time.time() // DAY)
    return np.where(days, days, written).astype(_DAYS)


def note_use(folder: Path, count: int, places: list[int]) -> None:
    """Note that these records were of use today; where that cannot be written, they go earlier than they might."""
    today = int(time.time() // DAY)
    with contextlib.suppress(OSError, ValueError):
        if not (folder / _NAME).exists():
            write_days(folder, np.zeros(count, dtype=_DAYS))
        days = np.memmap(folder / _NAME, dtype=_DAYS, mode="r+", shape=(count,))
        # Processes that find records of one pack at once write to their own places of one file.
        if (days[places] != today).any():
            days[places] = today


def write_days(folder: Path, days: np.ndarray) -> None:
    """Write the days of all records, unless another process has."""
    with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(dir=folder, prefix=_NAME) as draft:
        draft.write(days.astype(_DAYS).tobytes())
        draft.flush()
        os.link(draft.name, folder / _NAME)
