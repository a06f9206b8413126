"""Lists the names below a folder that a walk may keep, with a reason for each skipped one; opens no source file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.gitignore import Rules, read_rules
from chunkers.writable import is_writable

_VENDORED = frozenset("node_modules bower_components vendor third_party site-packages __pycache__ venv".split())
_BUILT_AT_TOP = frozenset("build dist env".split())
NEVER = ("symbolic link", "not a file")
"""Reasons that apply to requested paths too: the target of a link does not belong to the repository."""


def unfit_path(path: str) -> str:
    """Return why a folder of the path is excluded from a corpus, or nothing; for trees that are not on disk."""
    parts = path.split("/")[:-1]
    return _unwritable(path) or next(
        (why for n, name in enumerate(parts) if (why := _folder_reason(name, "/".join(parts[: n + 1]), ()))), ""
    )


class _Open(NamedTuple):
    """A folder being walked: its remaining entries, and the rules that apply inside."""

    entries: Iterator[os.DirEntry[str]]
    folder: str
    ignores: tuple[Rules, ...]


def list_names(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, reason to skip or "") in path order; a skipped folder is one row, ending in a slash."""
    try:
        walked = [_enter(root, "", ())]
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from None
    while walked:
        entries, folder, ignores = walked[-1]
        entry = next(entries, None)
        if entry is None:
            walked.pop()
            continue
        path = folder + entry.name
        if entry.is_symlink():
            yield path, "symbolic link"
        elif entry.is_dir():
            if reason := _folder_reason(entry.name, path + "/", ignores):
                yield path + "/", reason
                continue
            try:
                walked.append(_enter(root, path + "/", ignores))
            except OSError as error:
                yield path + "/", f"cannot be read ({error.strerror})"
        elif not entry.is_file():
            yield path, "not a file"
        else:
            yield path, "ignored by .gitignore" if _ignored(path, ignores) else _unwritable(path)


def _enter(root: Path, folder: str, inherited: tuple[Rules, ...]) -> _Open:
    names = (".gitignore",) if folder else (".git/info/exclude", ".gitignore")
    found = (read_rules(root / folder / name, prefix=folder) for name in names)
    with os.scandir(root / folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    return _Open(iter(ordered), folder, (*inherited, *(rules for rules in found if rules)))


def _ignored(path: str, ignores: Sequence[Rules]) -> bool:
    """Return the verdict of the deepest rules file that has one, as git does."""
    for ignore in reversed(ignores):
        if (verdict := ignore.verdict(path)) is not None:
            return verdict
    return False


def _folder_reason(name: str, path: str, ignores: Sequence[Rules]) -> str:
    if name.startswith("."):
        return "hidden folder"
    built = path.removesuffix("/") in _BUILT_AT_TOP or name.endswith((".egg-info", ".dist-info"))
    if built or name in _VENDORED:
        return "vendored or built"
    return "ignored by .gitignore" if _ignored(path, ignores) else ""


def _unwritable(path: str) -> str:
    """Return why no result file could contain the path, or nothing."""
    return "" if is_writable(path) else "name is not UTF-8"
