"""A repository that has no labels: queries are mined from it as it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Repository, walk
from ground_truth.git import is_git, is_named_bare, resolve_ref
from ground_truth.git_snapshot import take_snapshot
from ground_truth.miners.commits import mine_commits
from ground_truth.miners.definitions import minable_languages
from ground_truth.miners.mixed import CodeKind, mine_code
from ground_truth.miners.types import Mined
from ground_truth.types import Dataset


@dataclass(frozen=True, kw_only=True)
class MinedRepository:
    """Any folder or clone: its documentation asks for the code below it, or its commit messages for what changed."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "root= any folder of source code, or a git clone"

    root: str
    ref: str | None = None
    """A branch, tag or commit, read without a checkout; None reads the folder as it is, or HEAD of a bare ``*.git``."""
    kind: Literal["code", "docstrings", "comments", "commits"] = "code"
    """`code`: docstrings and comments in equal parts; the text that asks is hidden from the index."""
    queries: int = 200
    """At most this many."""
    seed: int = 0
    max_files: int = 5
    """Commits that change more source files than this make no query."""

    def __post_init__(self) -> None:
        positive(self, "queries", "max_files")

    def load(self) -> Dataset:
        """Return the dataset, with what was kept and dropped in its details."""
        place = Path(self.root).expanduser()
        if not place.exists():
            raise UsageError(f"{self.root} does not exist: give a folder of source code")
        commit = self._commit(place)
        find = self._history if self.kind == "commits" else self._code
        mined, repositories = find(place, commit)
        if not mined.queries:
            raise UsageError(f"{self.root} gives no queries by {self.kind} ({_told(mined)}): {self._remedy(place)}")
        return Dataset(
            name=_name(place),
            repositories=repositories,
            queries=mined.queries,
            annotations=mined.annotations,
            mined=True,
            hidden=mined.hidden,
            details={"kind": self.kind, "seed": self.seed, "commit": commit, **mined.counts()},
        )

    def _commit(self, place: Path) -> str | None:
        """Return the commit that is read, or None for a folder as it is."""
        if self.ref is not None and not is_git(place):
            raise UsageError(f"{self.root} is not a git clone: leave ref= out to read the folder as it is")
        ref = self.ref or ("HEAD" if is_named_bare(place) else None)
        return resolve_ref(place, ref) if ref else None

    def _code(self, place: Path, commit: str | None) -> tuple[Mined, tuple[Repository, ...]]:
        name = _name(place)
        plain = take_snapshot(place, commit, name=name) if commit else walk(place, name=name)
        kinds: tuple[CodeKind, ...] = ("docstrings", "comments")
        chosen = tuple(kind for kind in kinds if self.kind in ("code", kind))
        return mine_code(plain, chosen, limit=self.queries, seed=self.seed), (plain,)

    def _history(self, place: Path, commit: str | None) -> tuple[Mined, tuple[Repository, ...]]:
        mined = mine_commits(
            place,
            name=_name(place),
            limit=self.queries,
            seed=self.seed,
            max_files=self.max_files,
            revision=commit or "HEAD",
        )
        keep: dict[str, set[str]] = {}
        for note in mined.annotations:
            keep.setdefault(note.repo, set()).add(note.path)
        parents = {query.repo: mined.commits[query.id] for query in mined.queries}
        return mined, tuple(
            take_snapshot(place, parent, name=name, keep=keep[name]) for name, parent in sorted(parents.items())
        )

    def _remedy(self, place: Path) -> str:
        if self.kind != "commits" and is_git(place):
            return "try kind=commits, or annotate it"
        return f"documentation is read in {', '.join(sorted(minable_languages()))}; otherwise annotate it"


def _name(place: Path) -> str:
    return place.resolve().name.removesuffix(".git") or "repository"


def _told(mined: Mined) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(mined.dropped.items())) or "nothing documented"
