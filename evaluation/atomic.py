"""Files that a reader finds whole or not at all, also after a crash."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def replace_text(file: Path, text: str) -> Path:
    """Replace the file: a reader sees the old text or the new one."""
    return replace_lines(file, [text])


def replace_lines(file: Path, lines: Iterable[str]) -> Path:
    """Replace the file by lines that are written as they come; each ends itself."""
    handle, draft = tempfile.mkstemp(prefix=".draft-", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
        # mkstemp makes a file for its owner only.
        Path(draft).chmod(0o644)
        Path(draft).replace(file)
    finally:
        Path(draft).unlink(missing_ok=True)
    return file


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder against other writers that ask in this way, waiting for them; nothing is left in it."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def checksum(file: Path) -> str:
    """Return the SHA-256 of the file's bytes."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Have the file, or the names in the folder, on disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
