"""What each dataset needs, and whether it is available."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from ground_truth.data_folders import data_folders
from ground_truth.registry import DATASETS

_DEFAULT_NAMES = {"repoeval": "repoeval"}
"""Datasets looked up by this name if their spec names no path."""


class Availability(NamedTuple):
    """One dataset: what it is, what it needs, where it was looked up, and where it is."""

    name: str
    summary: str
    needs: str
    looked: tuple[Path, ...]
    found: Path | None


def availability() -> list[Availability]:
    """Return every dataset with what it needs; the loaders are imported, the data is not read."""
    rows = []
    for name, entry in sorted(DATASETS.entries().items()):
        needs = _needs(name)
        looked = tuple(data_folders(_DEFAULT_NAMES[name])) if name in _DEFAULT_NAMES else ()
        rows.append(Availability(name, entry.summary, needs, looked, next((p for p in looked if p.exists()), None)))
    return rows


def _needs(name: str) -> str:
    try:
        return str(getattr(DATASETS.load(name), "needs", ""))
    except UsageError:
        return ""  # `Registry.listed` says why it cannot be loaded
