"""The files and queries of each round: parts of the data that grow, and queries that no round has seen."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from chunkers.sources import Repository, Skipped
from chunkers.types import SourceFile
from evaluation.statistics import MIN_REPOSITORIES
from ground_truth.draw import draw_queries
from ground_truth.types import Dataset, DatasetLoader

SHARES = (0.15, 0.27)
"""The part of the text that each round is measured on."""
_LEAST_BYTES = 48_000
"""What is searched of a repository at least: about three reading budgets of 4,000 tokens. Less would be read whole."""
_FRESH = 12
"""Repositories that no round has seen from which the final needs no others."""
_HELD_OUT = 3
"""Where there are fewer: one in this many of the queries in the rounds' files is kept for the final."""
_WITH_ANSWERS = 0.5
"""The part of a round's text that is taken from files with answers; the rest is taken from all."""
_ROUNDS_QUERIES = 0.5
"""The part of all queries that the rounds may use up."""
_LEAST_QUERIES = 4
"""With fewer there is nothing to divide: the final is all there is."""

FileName = tuple[str, str]
"""Repository and path."""
_Space = dict[FileName, int]
"""Files that are searched together, with their bytes."""


class Part(NamedTuple):
    """What one round is measured on."""

    files: frozenset[FileName] | None
    """None: all of them."""
    queries: frozenset[str]
    share: float
    """Of all text."""


def divide(dataset: Dataset, *, seed: int) -> list[Part]:
    """Return the parts of the rounds, each holding the one before, and of the final; two parts share no query.

    Repositories and files are taken in an order that the seed and their names decide. Many small repositories are
    taken one by one, so that each is searched among enough text; of few large ones some files each. A query takes part
    where all files that answer it do. The rounds' files are searched in the final too, with all others.
    """
    spaces = _spaces(dataset)
    sizes = {file: size for several in spaces.values() for space in several for file, size in space.items()}
    total = sum(sizes.values())
    gold = _gold_files(dataset)
    every = frozenset(query.id for query in dataset.queries)
    parts: list[Part] = []
    if len(every) >= _LEAST_QUERIES:
        answers = frozenset().union(*gold.values())
        files: frozenset[FileName] = frozenset()
        for share in SHARES:
            files |= _files(spaces, answers, share * total, seed)
            files |= _enough(dataset, gold, files, round(share * len(every)), seed)
            asked = frozenset(name for name in every if gold[name] and gold[name] <= files)
            parts.append(Part(files, asked, _share(files, sizes, total)))
        held = _held_out(dataset, spaces, total, seed) | _surplus(parts[-1].queries, len(every), seed)
        parts = [part._replace(queries=part.queries - held) for part in parts]
    used = parts[-1].queries if parts else frozenset()
    growing = [part for k, part in enumerate(parts) if part.queries and (k == 0 or part != parts[k - 1])]
    return [*growing, Part(None, every - used, 1.0)]


def _held_out(dataset: Dataset, spaces: Mapping[str, Sequence[_Space]], total: int, seed: int) -> set[str]:
    """Return the queries that no round may see, although their files are in it: some, where repositories are few."""
    rest = len(spaces) - _count(spaces, SHARES[-1] * total)
    if len(spaces) < MIN_REPOSITORIES or rest >= _FRESH:
        return set()
    return {query.id for query in dataset.queries if _drawn(query.id, seed, _HELD_OUT)}


def _surplus(asked: Collection[str], total: int, seed: int) -> set[str]:
    """Return the queries beyond those that the rounds may use up: of a single file they would be all."""
    return set(sorted(asked, key=lambda name: _order(name, seed))[int(_ROUNDS_QUERIES * total) :])


def _count(spaces: Mapping[str, Sequence[_Space]], wanted: float) -> int:
    """Return how many repositories are taken so that each is searched among enough text."""
    return min(len(spaces), max(int(wanted // _LEAST_BYTES), MIN_REPOSITORIES))


def _files(
    spaces: Mapping[str, Sequence[_Space]], answers: Collection[FileName], wanted: float, seed: int
) -> frozenset[FileName]:
    """Return files of so many bytes, from as many repositories as can give enough text each."""
    chosen = sorted(spaces, key=lambda name: _order(name, seed))[: _count(spaces, wanted)]
    found: set[FileName] = set()
    for name in chosen:
        each = max(wanted / len(chosen) / len(spaces[name]), _LEAST_BYTES)
        for space in spaces[name]:
            # By path alone: snapshots of one repository have the same files, and most of them the same text.
            ordered = sorted(space, key=lambda file: _order(file[1], seed))
            some = _until([file for file in ordered if file in answers], space, each * _WITH_ANSWERS)
            rest = each - sum(space[file] for file in some)
            found |= {*some, *_until([file for file in ordered if file not in some], space, rest)}
    return frozenset(found)


def _until(files: Sequence[FileName], space: _Space, wanted: float) -> set[FileName]:
    """Return files of so many bytes in this order, leaving out one that would go too far."""
    taken: set[FileName] = set()
    size = 0.0
    for file in files:
        if size + space[file] / 2 <= wanted:
            taken.add(file)
            size += space[file]
    return taken


def _enough(
    dataset: Dataset, gold: Mapping[str, frozenset[FileName]], files: frozenset[FileName], wanted: int, seed: int
) -> frozenset[FileName]:
    """Return the files that answer further queries, where those at hand answer less than half of the number wanted."""
    more: set[FileName] = set()
    found = sum(gold[query.id] <= files for query in dataset.queries if gold[query.id])
    for query in sorted(dataset.queries, key=lambda query: _order(query.id, seed)):
        if 2 * found >= wanted:
            break
        if gold[query.id] and not gold[query.id] <= files | more:
            more |= gold[query.id]
            found += 1
    return frozenset(more)


def _spaces(dataset: Dataset) -> dict[str, list[_Space]]:
    """Return what is searched, by what counts as one repository: itself, its snapshots, or all files together."""
    cluster = {query.repo: query.cluster for query in dataset.queries}
    found: dict[str, list[_Space]] = {}
    everything: _Space = {}
    for repository in dataset.repositories:
        sizes = {(repository.name, source.path): len(source.data) for source in repository.files()}
        everything |= sizes
        if repository.name in cluster:
            found.setdefault(cluster[repository.name], []).append(sizes)
    return {"": [everything]} if dataset.scope == "all" else found


def _gold_files(dataset: Dataset) -> dict[str, frozenset[FileName]]:
    found: dict[str, set[FileName]] = {query.id: set() for query in dataset.queries}
    for note in dataset.annotations:
        found[note.query_id].add((note.repo, note.path))
    return {name: frozenset(files) for name, files in found.items()}


def _share(files: Iterable[FileName], sizes: Mapping[FileName, int], total: int) -> float:
    return sum(sizes.get(file, 0) for file in files) / max(total, 1)


def _order(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogateescape")).digest()


def _drawn(name: str, seed: int, one_in: int) -> bool:
    return _order(f"final\0{name}", seed)[0] % one_in == 0


def part_of(dataset: Dataset, part: Part) -> Dataset:
    """Return the dataset with these files and queries alone; what is hidden stays hidden."""
    repositories = dataset.repositories
    if part.files is not None:
        paths: dict[str, set[str]] = {}
        for name, path in part.files:
            paths.setdefault(name, set()).add(path)
        kept = (repository for repository in dataset.repositories if repository.name in paths)
        repositories = tuple(SomeFiles(repository, frozenset(paths[repository.name])) for repository in kept)
    return replace(
        dataset,
        repositories=repositories,
        queries=tuple(query for query in dataset.queries if query.id in part.queries),
        annotations=tuple(note for note in dataset.annotations if note.query_id in part.queries),
        hidden=tuple(span for span in dataset.hidden if part.files is None or span[:2] in part.files),
    )


@dataclass(frozen=True)
class SomeFiles:
    """Some files of a repository."""

    inner: Repository
    paths: Collection[str]

    @property
    def name(self) -> str:
        """The name that queries refer to."""
        return self.inner.name

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What was left out, each with a reason."""
        return self.inner.skipped

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order."""
        return (source for source in self.inner.files() if source.path in self.paths)

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None where it is not among them."""
        return self.inner.read(path) if path in self.paths else None


@dataclass(frozen=True, kw_only=True)
class PartLoader:
    """Loads a part of a dataset: how another process comes by what a round is measured on."""

    version: ClassVar[str] = "1"

    inner: DatasetLoader
    limit: int | None
    seed: int
    part: Part

    def load(self) -> Dataset:
        """Return the part."""
        return part_of(draw_queries(self.inner.load(), self.limit, seed=self.seed), self.part)
