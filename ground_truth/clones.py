"""Commits of local clones as named by published datasets, with a reason where one cannot be read."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from chunkers.errors import UsageError
from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.git import find_clone, resolve_commit
from ground_truth.git_snapshot import GitSnapshot, take_snapshot
from ground_truth.problems import Policy, RowProblemError


def open_commit(
    root: Path, repo: str, commit: str, *, where: str, keep: Collection[str], problems: Policy
) -> GitSnapshot:
    """Return ``owner/name`` at a commit from the clones below ``root``; raise, naming the row, if it is not there.

    With ``problems="skip"``, files whose contents the clone lacks (a partial clone) are left out of the snapshot.
    """
    clone = find_clone(root, repo)
    if clone is None:
        raise RowProblemError(where, "no clone", f"{repo} is not below {root}: clone it there")
    if resolve_commit(clone, commit) is None:
        raise RowProblemError(where, "commit not in the clone", f"{clone} has no commit {commit}: fetch it")
    return take_snapshot(clone, commit, name=f"{repo}@{commit[:12]}", keep=keep, missing=problems)


def read_gold(repository: Repository, path: str, *, where: str) -> SourceFile:
    """Return a file that holds gold; raise, naming the row, if the commit or the clone lacks it."""
    try:
        source = repository.read(path)
    except UsageError as error:
        raise RowProblemError(where, "object not in the clone", str(error)) from None
    if source is None and any(skip == (path, "object not in the clone") for skip in _skipped_paths(repository)):
        raise RowProblemError(where, "object not in the clone", f"{path} at {repository.name}: fetch the whole history")
    if source is None:
        raise RowProblemError(where, "file not in the commit", f"{path} is not in {repository.name}")
    return source


def _skipped_paths(repository: Repository) -> Collection[tuple[str, str]]:
    return repository.skipped_paths if isinstance(repository, GitSnapshot) else repository.skipped
