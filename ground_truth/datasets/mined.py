"""Your own repository without labels: the queries are mined from it, as it is on disk or at a git ref."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import walk
from ground_truth.git import is_git, resolve_ref
from ground_truth.masking import mask_docstrings
from ground_truth.miners.commits import mine_commits
from ground_truth.miners.docstrings import mine_docstrings
from ground_truth.miners.types import Mined
from ground_truth.snapshots import take_snapshot
from ground_truth.types import Dataset

_MAX_FILES = 5


@dataclass(frozen=True, kw_only=True)
class MinedRepository:
    """A folder or clone; a query is a function's docstring, masked from the index, or a commit's message."""

    version: ClassVar[str] = "1"

    root: str
    ref: str | None = None
    """A branch, tag or commit; nothing is checked out. None reads the folder as it is."""
    queries: int = 200
    """At most this many."""
    kind: Literal["docstrings", "commits"] = "docstrings"
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self, "queries")

    def load(self) -> Dataset:
        """Return the dataset; the same files give the same queries, and a new file moves few of them."""
        root = Path(self.root).expanduser()
        if not root.is_dir():
            raise UsageError(f"root {self.root!r} is not a folder: write root=FOLDER with the repository")
        if self.ref is not None and not is_git(root):
            raise UsageError(f"{root} is not a git clone: leave ref= out to read the folder as it is")
        commit = resolve_ref(root, self.ref) if self.ref is not None else None
        return self._history(root, commit) if self.kind == "commits" else self._docstrings(root, commit)

    def _docstrings(self, root: Path, commit: str | None) -> Dataset:
        name = _name(root)
        plain = take_snapshot(root, commit, name=name) if commit else walk(root, name=name)
        mined = mine_docstrings(plain, limit=self.queries, seed=self.seed)
        if not mined.queries:
            raise UsageError(f"{root} has no documented functions to ask about: write --annotations, or kind=commits")
        return Dataset(
            name=name,
            repositories=(dataclasses.replace(plain, transform=mask_docstrings),),
            queries=mined.queries,
            annotations=mined.annotations,
            mined=True,
            details=_details(mined, commit) | {"masked": "docstrings"},
        )

    def _history(self, root: Path, commit: str | None) -> Dataset:
        name = _name(root)
        mined = mine_commits(
            root, name=name, limit=self.queries, seed=self.seed, max_files=_MAX_FILES, revision=commit or "HEAD"
        )
        if not mined.queries:
            raise UsageError(f"{root} has no commits to ask about: use kind=docstrings")
        gold: dict[str, set[str]] = {}
        for note in mined.annotations:
            gold.setdefault(note.repo, set()).add(note.path)
        parents = {query.repo: mined.commits[query.id] for query in mined.queries}
        return Dataset(
            name=name,
            repositories=tuple(
                take_snapshot(root, parents[repo], name=repo, keep=paths) for repo, paths in sorted(gold.items())
            ),
            queries=mined.queries,
            annotations=mined.annotations,
            mined=True,
            details=_details(mined, commit),
        )


def _name(root: Path) -> str:
    return root.resolve().name.removesuffix(".git") or "repository"


def _details(mined: Mined, commit: str | None) -> dict[str, Any]:
    return {"commit": commit, **mined.counts()}
