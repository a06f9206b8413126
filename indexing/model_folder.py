"""A model's folder: a hash of its contents, and a key that changes with its files."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import NamedTuple


class ModelFolder(NamedTuple):
    """A folder in its current state, as a cache key: results cached for it do not apply once its files change."""

    path: Path
    files: tuple[tuple[str, int, int], ...]
    """Name, size and modification time of each file that may affect the model."""

    @classmethod
    def at(cls, path: Path) -> ModelFolder:
        """Record the files of a folder."""
        found = sorted(file for file in path.rglob("*") if file.is_file() and file.suffix != ".md")
        stats = ((file, file.stat()) for file in found)
        return cls(path, tuple((file.relative_to(path).as_posix(), s.st_size, s.st_mtime_ns) for file, s in stats))


@functools.lru_cache(maxsize=16)
def content_hash(folder: ModelFolder) -> str:
    """Return a hash of all files of the model, so that its results are found wherever the folder is."""
    digest = hashlib.sha256()
    for name, _, _ in folder.files:
        digest.update(name.encode() + b"\0")
        with (folder.path / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]
