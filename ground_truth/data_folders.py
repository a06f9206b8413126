"""Where published data is looked up if a spec names no path."""

from __future__ import annotations

import os
from pathlib import Path

from chunkers.errors import UsageError


def data_folders(name: str) -> list[Path]:
    """Return the places where a file or folder of this name is looked up, in order."""
    folders = [Path(chosen).expanduser()] if (chosen := os.environ.get("CHUNKBENCH_DATA")) else []
    return [folder / name for folder in (*folders, Path("data"))]


def locate(given: str, *, name: str, dataset: str) -> Path:
    """Return the given path, or the first candidate that exists."""
    if given:
        return Path(given).expanduser()
    looked = data_folders(name)
    for place in looked:
        if place.exists():
            return place
    tried = " and ".join(map(str, looked))
    raise UsageError(f"dataset {dataset!r} is not in {tried}: write {dataset}:path=…, or set CHUNKBENCH_DATA")
