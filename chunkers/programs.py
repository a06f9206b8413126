"""Finds programs by name, never in the current folder, which may be someone's repository."""

from __future__ import annotations

import os
import shutil


def search_path() -> str:
    """Return the search path without its relative folders."""
    return os.pathsep.join(part for part in os.get_exec_path() if os.path.isabs(part))  # noqa: PTH117 - a text


def find_program(name: str) -> str | None:
    """Return the path of a program, or None if it is not installed."""
    return shutil.which(name, path=search_path())
