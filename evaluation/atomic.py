"""Atomic, crash-safe file writes."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chunkers.input_files import open_input


def replace_text(file: Path, text: str) -> Path:
    """Replace the file atomically: a reader sees the old text or the new one."""
    return replace_lines(file, [text])


def replace_lines(file: Path, lines: Iterable[str]) -> Path:
    """Replace the file atomically by lines as they come, with their own ends; remove drafts of killed writers."""
    _remove_abandoned(file)
    handle, draft = _draft_of(file)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
            out.flush()
            # mkstemp gives access to the owner only.
            draft.chmod(0o644)
            draft.replace(file)  # while locked: no process may consider it abandoned
    finally:
        draft.unlink(missing_ok=True)
    return file


def _draft_of(file: Path) -> tuple[int, Path]:
    """Create a file beside this one that is locked as long as its writer lives."""
    import fcntl

    while True:
        handle, draft = tempfile.mkstemp(prefix=_draft_prefix(file), dir=file.parent)
        with contextlib.suppress(OSError):  # some file systems have no locks; nothing is removed there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, Path(draft)
        os.close(handle)  # it was removed before it was locked


def _remove_abandoned(file: Path) -> None:
    import fcntl

    for left in file.parent.glob(f"{glob.escape(_draft_prefix(file))}????????"):
        with contextlib.suppress(OSError), left.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _draft_prefix(file: Path) -> str:
    return f".draft-{file.name[:60]}-"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder against other callers of this function, waiting for them; leaves no file behind."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def checksum(file: Path) -> str:
    """Return the SHA-256 of the file's bytes."""
    with open_input(file) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Flush the file, or the names in the folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
