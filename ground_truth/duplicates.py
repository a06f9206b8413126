"""Files that a corpus holds more than once: detected, reported, and handled by policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from chunkers.errors import UsageError
from chunkers.file_facts import FileFacts, facts_of
from chunkers.file_work import each_file
from chunkers.sources import Repository, Skipped, read_many
from chunkers.types import SourceFile
from ground_truth.near_files import lines_of, near_groups
from ground_truth.types import Annotation, Dataset

Policy = Literal["keep", "first", "equal"]


class Copies(NamedTuple):
    """Identical or near-identical files of one repository."""

    repo: str
    paths: tuple[str, ...]
    """In path order: the first is the one that `first` keeps."""
    identical: bool


def find_copies(repository: Repository) -> list[Copies]:
    """Return the groups of identical files, then those of near-identical ones among the rest.

    Near-identical: nine tenths of the distinct non-blank lines of both are shared (Jaccard, exact for every pair that a
    MinHash proposes).
    """
    by_text: dict[bytes, list[str]] = {}
    lines: dict[str, bytes] = {}
    for file in each_file(repository, "lines", lines_of):
        if file.record:
            twins = by_text.setdefault(file.facts.digest, [])
            twins.append(file.facts.path)
            if len(twins) == 1:
                lines[file.facts.path] = file.record
    exact = [Copies(repository.name, tuple(paths), identical=True) for paths in by_text.values() if len(paths) > 1]
    return exact + [Copies(repository.name, paths, identical=False) for paths in near_groups(lines)]


def apply_duplicates(dataset: Dataset, policy: str) -> Dataset:
    """Return the dataset under the policy, with the duplicates found in its details.

    ``keep`` changes nothing; ``first`` keeps only the first of identical files in the corpus and moves annotations
    there; ``equal`` makes a copy of gold text gold. Near-identical files are reported and never changed.
    """
    if policy not in ("keep", "first", "equal"):
        raise UsageError(f"duplicates is {policy!r}; it must be one of keep, first, equal")
    copies = [group for repository in dataset.repositories for group in find_copies(repository)]
    found = dataclasses.replace(
        dataset, details={**dataset.details, "duplicates": _report(copies, cast("Policy", policy))}
    )
    exact = [group for group in copies if group.identical]
    if policy == "first":
        return _only_first(found, exact)
    return _all_equal(found, exact) if policy == "equal" else found


@dataclass(frozen=True)
class Without:
    """A repository without some of its files."""

    inner: Repository
    removed: frozenset[str]

    @property
    def name(self) -> str:
        """The name of the whole repository."""
        return self.inner.name

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What was skipped, including the removed copies."""
        return (*self.inner.skipped, *(Skipped(path, "copy of another file") for path in sorted(self.removed)))

    def facts(self) -> Sequence[FileFacts]:
        """Return the facts of the remaining files, from the whole repository."""
        return [file for file in facts_of(self.inner) if file.path not in self.removed]

    def files(self) -> Iterator[SourceFile]:
        """Yield the remaining files."""
        return (source for source in self.inner.files() if source.path not in self.removed)

    def read(self, path: str) -> SourceFile | None:
        """Return one remaining file."""
        return None if path in self.removed else self.inner.read(path)

    def read_many(self, paths: Sequence[str]) -> Iterator[SourceFile | None]:
        """Yield several remaining files."""
        found = read_many(self.inner, [path for path in paths if path not in self.removed])
        return (None if path in self.removed else next(found) for path in paths)


def _only_first(dataset: Dataset, copies: Iterable[Copies]) -> Dataset:
    first = {(group.repo, path): group.paths[0] for group in copies for path in group.paths[1:]}
    removed: dict[str, set[str]] = {}
    for repo, path in first:
        removed.setdefault(repo, set()).add(path)
    moved = (
        dataclasses.replace(note, path=first.get((note.repo, note.path), note.path)) for note in dataset.annotations
    )
    return dataclasses.replace(
        dataset,
        repositories=tuple(
            Without(repository, frozenset(removed[repository.name])) if repository.name in removed else repository
            for repository in dataset.repositories
        ),
        annotations=tuple(dict.fromkeys(moved)),
    )


def _all_equal(dataset: Dataset, copies: Iterable[Copies]) -> Dataset:
    groups = {(group.repo, path): group.paths for group in copies for path in group.paths}

    def everywhere(note: Annotation) -> list[Annotation]:
        others = groups.get((note.repo, note.path), (note.path,))
        return [note, *(dataclasses.replace(note, path=path) for path in others if path != note.path)]

    spread = (copy for note in dataset.annotations for copy in everywhere(note))
    return dataclasses.replace(dataset, annotations=tuple(dict.fromkeys(spread)))


def _report(copies: Sequence[Copies], policy: Policy) -> dict[str, Any]:
    exact = [group for group in copies if group.identical]
    near = [group for group in copies if not group.identical]
    return {
        "policy": policy,
        "identical_groups": len(exact),
        "identical_files": sum(len(group.paths) for group in exact),
        "near_identical_groups": len(near),
        "near_identical_files": sum(len(group.paths) for group in near),
        "examples": [list(group.paths[:3]) for group in copies[:5]],
    }
