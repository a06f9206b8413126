"""Shares files in a common folder: temporary files are created with access for their owner only."""

from __future__ import annotations

import stat
from pathlib import Path


def share(path: Path) -> None:
    """Give a file or folder the permissions of the folder that contains it."""
    around = stat.S_IMODE(path.parent.stat().st_mode)
    path.chmod(around & (0o777 if path.is_dir() else 0o666))
