"""Small texts beside the runs, replaced whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_text(file: Path, text: str) -> None:
    """Replace the file: a reader sees the old text or the new one."""
    handle, draft = tempfile.mkstemp(prefix=".draft-", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        # mkstemp makes a file for its owner only.
        Path(draft).chmod(0o644)
        Path(draft).replace(file)
    finally:
        Path(draft).unlink(missing_ok=True)
