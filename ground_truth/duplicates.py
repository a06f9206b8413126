"""Files that a corpus holds more than once: detected, reported, and handled by policy."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from chunkers.errors import UsageError
from chunkers.file_work import each_file
from chunkers.sources import Repository, Skipped, read_many
from chunkers.types import SourceFile
from ground_truth.types import Annotation, Dataset

Policy = Literal["keep", "first", "equal"]
MIN_LINES = 10
"""Files with fewer distinct lines are never near-identical: licences and empty packages resemble each other."""
NEAR = 0.9
_HASHES, _BANDS = 64, 16
_SPACE = re.compile(rb"\s+")


class Copies(NamedTuple):
    """Files of one repository that say the same."""

    repo: str
    paths: tuple[str, ...]
    """In path order: the first is the one that `first` keeps."""
    identical: bool


def find_copies(repository: Repository) -> list[Copies]:
    """Return the groups of identical files, then those of near-identical ones among the rest.

    Near-identical: nine tenths of the distinct lines of both, blanks aside (Jaccard, exact for every pair
    that a MinHash proposes).
    """
    by_text: dict[str, list[str]] = {}
    lines: dict[str, _Lines] = {}
    for file in each_file(repository, "lines", _lines_of):
        if file.value is not None:
            content, *parts = file.value
            twins = by_text.setdefault(content, [])
            twins.append(file.path)
            if len(twins) == 1:
                lines[file.path] = _Lines(*(np.frombuffer(base64.b64decode(part), "<u8") for part in parts))
    exact = [Copies(repository.name, tuple(paths), identical=True) for paths in by_text.values() if len(paths) > 1]
    return exact + [Copies(repository.name, paths, identical=False) for paths in _near(lines)]


def apply_duplicates(dataset: Dataset, policy: str) -> Dataset:
    """Return the dataset under the policy, with what was found in its details.

    ``keep`` changes nothing; ``first`` leaves only the first of identical files in the corpus and moves annotations
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
        """What was left out, the removed copies among it."""
        return (*self.inner.skipped, *(Skipped(path, "copy of another file") for path in sorted(self.removed)))

    def files(self) -> Iterator[SourceFile]:
        """Yield the files that are left."""
        return (source for source in self.inner.files() if source.path not in self.removed)

    def read(self, path: str) -> SourceFile | None:
        """Return one file that is left."""
        return None if path in self.removed else self.inner.read(path)

    def read_many(self, paths: Sequence[str]) -> Iterator[SourceFile | None]:
        """Yield several files that are left."""
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


class _Lines(NamedTuple):
    """The distinct lines of a file as sorted hashes, and their MinHash."""

    hashes: np.ndarray
    least: np.ndarray


def _lines_of(source: SourceFile) -> list[str] | None:
    """Return a hash of the text, and the hashes of its lines and their MinHash as text; None of a blank file."""
    data = source.data
    if not data.strip():
        return None
    lines = {_SPACE.sub(b" ", line.strip()) for line in data.split(b"\n")} - {b""}
    digests = b"".join(hashlib.blake2b(line, digest_size=8).digest() for line in lines)
    hashes = np.unique(np.frombuffer(digests, ">u8").astype("<u8"))
    parts = (hashes, _least(hashes) if len(hashes) else hashes)
    return [hashlib.sha256(data).hexdigest(), *(base64.b64encode(part.tobytes()).decode() for part in parts)]


def _near(lines: dict[str, _Lines]) -> list[tuple[str, ...]]:
    """Return groups of near-identical files: proposed by banded MinHash, confirmed exactly, joined."""
    parent = {path: path for path in lines}

    def root(path: str) -> str:
        while parent[path] != path:
            path = parent[path]
        return path

    buckets: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for path, each in lines.items():
        if len(each.hashes) >= MIN_LINES:
            for band, key in enumerate(each.least.reshape(_BANDS, -1).tolist()):
                buckets.setdefault((band, tuple(key)), []).append(path)
    for paths in buckets.values():
        for path in paths[1:]:
            one, other = lines[paths[0]].hashes, lines[path].hashes
            shared = len(np.intersect1d(one, other, assume_unique=True))
            if shared >= NEAR * (len(one) + len(other) - shared):
                parent[max(root(path), root(paths[0]))] = min(root(path), root(paths[0]))
    groups: dict[str, list[str]] = {}
    for path in lines:
        groups.setdefault(root(path), []).append(path)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]


def _least(hashes: np.ndarray) -> np.ndarray:
    """Return the MinHash of a set; sets of Jaccard 0.9 share one of its bands with probability above 0.999."""
    # Odd multipliers permute 64-bit integers well enough to propose pairs; they are fixed, so runs agree.
    multipliers = (np.arange(1, _HASHES + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    with np.errstate(over="ignore"):
        mixed = hashes[:, None] * multipliers[None, :]
        least: np.ndarray = (mixed ^ (mixed >> np.uint64(29))).min(axis=0).astype("<u8")
    return least
