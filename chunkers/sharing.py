"""Files that others may read: temporary ones are made for their owner alone, which is no use in a shared folder."""

from __future__ import annotations

import stat
from pathlib import Path


def share(path: Path) -> None:
    """Let whoever may read or write the folder that holds a file, or a folder, do the same with it."""
    around = stat.S_IMODE(path.parent.stat().st_mode)
    path.chmod(around & (0o777 if path.is_dir() else 0o666))
