"""Resolves names from a data file below a folder; none can lead out of it."""

from __future__ import annotations

from pathlib import Path


def place_below(root: Path, name: str) -> Path | None:
    """Return the path of the name below the folder; None if it is empty, absolute, or climbs out."""
    path = Path(name)
    if not name.strip() or "\0" in name or path.is_absolute() or ".." in path.parts:
        return None
    return root / path


def folder_below(root: Path, name: str) -> Path | None:
    """Return the folder of this name, or None if there is none below the root."""
    place = place_below(root, name)
    try:
        return place if place is not None and place.is_dir() else None
    except OSError:
        return None  # a name that is too long for any folder


def file_below(root: Path, name: str) -> Path | None:
    """Return the file of this name, or None where there is none below the root, or a link on the way to it."""
    place = place_below(root, name)
    try:
        if place is None or not place.is_file() or place.resolve() != root.resolve() / place.relative_to(root):
            return None
    except OSError:
        return None  # a name that is too long for any file
    return place
