"""Unlabelled repositories: queries are mined from them as they are loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Repository, walk
from ground_truth.git import is_git, is_named_bare, resolve_ref, revisions
from ground_truth.git_snapshot import take_snapshot
from ground_truth.miners.commits import mine_commits
from ground_truth.miners.definitions import minable_languages
from ground_truth.miners.mixed import CodeKind, mine_code
from ground_truth.miners.types import Mined
from ground_truth.types import Dataset


class _Part(NamedTuple):
    """The files and queries of one repository."""

    name: str
    place: Path
    commit: str | None
    mined: Mined
    repositories: tuple[Repository, ...]


@dataclass(frozen=True, kw_only=True)
class MinedRepository:
    """Any folders or clones: documentation and comments ask for the code below, or commit messages for what changed."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "root= any folder of source code, a git clone, a folder of clones, or several with ; between"

    root: str
    ref: str | None = None
    """A branch, tag or commit, read without a checkout; None reads the folder as it is, or HEAD of a bare ``*.git``."""
    kind: Literal["code", "docstrings", "comments", "commits"] = "code"
    """`code`: docstrings and comments in equal parts; the text a query was made from is hidden from the index."""
    queries: int = 200
    """At most this many per repository."""
    seed: int = 0
    max_files: int = 5
    """Commits that change more source files than this yield no query."""

    def __post_init__(self) -> None:
        positive(self, "queries", "max_files")

    def load(self) -> Dataset:
        """Return the dataset; its details count what was kept and dropped, and name repositories without queries."""
        places = self._places()
        names = _names(places)
        parts = [self._part(place, name) for place, name in zip(places, names, strict=True)]
        asked = [part for part in parts if part.mined.queries]
        if not asked:
            reasons = "; ".join(f"{part.name}: {self._summary(part.mined)}" for part in parts)
            raise UsageError(f"{self.root} gives no queries by {self.kind} ({reasons}): {self._remedy(places)}")
        return Dataset(
            name=names[0] if len(names) == 1 else "pool",
            repositories=tuple(repository for part in asked for repository in part.repositories),
            queries=tuple(query for part in asked for query in part.mined.queries),
            annotations=tuple(note for part in asked for note in part.mined.annotations),
            mined=True,
            hidden=tuple(span for part in asked for span in part.mined.hidden),
            details={"kind": self.kind, "seed": self.seed, "cap": self.queries, **_details(parts)},
        )

    def has_more_history(self) -> bool:
        """Return whether every repository has commits, and no query is mined from them yet."""
        return self.kind != "commits" and all(map(_has_history, self._places()))

    def _places(self) -> list[Path]:
        """Return the repositories: the folder itself, those listed with ; between, or the clones inside a folder."""
        whole = Path(self.root).expanduser()
        named = [whole] if whole.exists() else [Path(part).expanduser() for part in self.root.split(";") if part]
        for place in named:
            if not place.exists():
                raise UsageError(f"{place} does not exist: give a folder of source code")
        return [clone for place in named for clone in (_clones(place) or [place])]

    def _part(self, place: Path, name: str) -> _Part:
        commit = self._commit(place)
        find = self._history if self.kind == "commits" else self._code
        mined, repositories = find(place, name, commit)
        return _Part(name, place, commit, mined, repositories)

    def _commit(self, place: Path) -> str | None:
        """Return the commit to read, or None for a folder as it is."""
        if self.ref is not None and not is_git(place):
            raise UsageError(f"{place} is not a git clone: leave ref= out to read the folder as it is")
        ref = self.ref or ("HEAD" if is_named_bare(place) else None)
        return resolve_ref(place, ref) if ref else None

    def _code(self, place: Path, name: str, commit: str | None) -> tuple[Mined, tuple[Repository, ...]]:
        plain = take_snapshot(place, commit, name=name) if commit else walk(place, name=name)
        kinds: tuple[CodeKind, ...] = ("docstrings", "comments")
        chosen = tuple(kind for kind in kinds if self.kind in ("code", kind))
        return mine_code(plain, chosen, limit=self.queries, seed=self.seed), (plain,)

    def _history(self, place: Path, name: str, commit: str | None) -> tuple[Mined, tuple[Repository, ...]]:
        mined = mine_commits(
            place, name=name, limit=self.queries, seed=self.seed, max_files=self.max_files, revision=commit or "HEAD"
        )
        keep: dict[str, set[str]] = {}
        for note in mined.annotations:
            keep.setdefault(note.repo, set()).add(note.path)
        parents = {query.repo: mined.commits[query.id] for query in mined.queries}
        return mined, tuple(
            take_snapshot(place, parent, name=each, keep=keep[each]) for each, parent in sorted(parents.items())
        )

    def _summary(self, mined: Mined) -> str:
        """Return why there is no query: what was dropped, and which languages were seen."""
        dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(mined.dropped.items()))
        if self.kind == "commits":
            return dropped or "nothing documented"
        if not mined.languages:
            return ", ".join(filter(None, ("no source file outside tests, in any known language", dropped)))
        return f"{', '.join(mined.languages)} with {dropped or 'nothing documented'}"

    def _remedy(self, places: Sequence[Path]) -> str:
        if self.kind != "commits" and all(map(is_git, places)):
            return "try kind=commits, or annotate it"
        return f"documentation is read in {', '.join(sorted(minable_languages()))}; otherwise annotate it"


def _has_history(place: Path) -> bool:
    """Return whether a folder is a clone with more than one readable commit."""
    if not (place / ".git").exists() and not is_named_bare(place):
        return False
    try:
        return len(revisions(place, resolve_ref(place, "HEAD"))) > 1
    except UsageError:  # no commit yet, or missing objects
        return False


def _clones(place: Path) -> list[Path]:
    """Return the clones inside a folder that is not one itself; nothing if there are fewer than two."""
    if is_git(place):
        return []
    found = sorted(entry for entry in place.iterdir() if entry.is_dir() and (entry / ".git").exists())
    return found if len(found) > 1 else []


def _names(places: Sequence[Path]) -> list[str]:
    """Return a name for each repository: its folder's, with its parent's where two are the same."""
    if again := [place for place, count in Counter(place.resolve() for place in places).items() if count > 1]:
        raise UsageError(f"{again[0]} is named twice: leave one out")
    short = [place.resolve().name.removesuffix(".git") or "repository" for place in places]
    counts = Counter(short)
    names = [
        name if counts[name] == 1 else f"{place.resolve().parent.name}-{name}"
        for name, place in zip(short, places, strict=True)
    ]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise UsageError(f"two repositories are called {twice!r}: rename a folder, or leave one out")
    return names


def _details(parts: Sequence[_Part]) -> dict[str, Any]:
    if len(parts) == 1:
        return {"commit": parts[0].commit, **parts[0].mined.counts()}
    return {"repositories": {part.name: {"commit": part.commit, **part.mined.counts()} for part in parts}}
