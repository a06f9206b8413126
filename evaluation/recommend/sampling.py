"""What each round is measured on: some queries, and the passages that compete for them; the final has all the others.

A part of the files would not do: among little text every answer is soon read, and large chunks look better than they
are. So a round searches its queries' answers and the passages that come first for them when one candidate searches
everything: little text, and nearly as hard to tell apart as all of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from ground_truth.draw import draw_queries
from ground_truth.types import Dataset, DatasetLoader, Query

SHARES = (0.1, 0.19)
"""The part of all text that the passages of each round make up, at most."""
DEPTHS = (1000, 2000, 4000)
"""Tokens that are looked at of what comes first for a query: more where there is room for more."""
_ROUNDS_QUERIES = 0.5
"""The part of all queries that the rounds may use up."""
_LEAST_QUERIES = 4
"""With fewer there is nothing to divide: the final is all there is."""

FileName = tuple[str, str]
"""Repository and path."""


class Passage(NamedTuple):
    """Half-open bytes of a file."""

    file: FileName
    start: int
    end: int
    tokens: int = 0


@dataclass(frozen=True, repr=False)
class Passages:
    """Text that a round searches: path → half-open byte ranges, ascending and apart.

    Files of one path in several repositories, most of them snapshots of one, share their ranges: what a chunker makes
    of a file is kept by path and content.
    """

    ranges: Mapping[str, tuple[tuple[int, int], ...]]

    @classmethod
    def of(cls, parts: Iterable[Passage]) -> Passages:
        """Return the passages, joined where they touch."""
        found: dict[str, list[tuple[int, int]]] = {}
        for path, start, end in sorted((part.file[1], part.start, part.end) for part in parts):
            held = found.setdefault(path, [])
            if held and start <= held[-1][1]:
                held[-1] = (held[-1][0], max(held[-1][1], end))
            else:
                held.append((start, end))
        return cls({path: tuple(held) for path, held in found.items()})

    @property
    def size(self) -> int:
        """All bytes."""
        return sum(end - start for held in self.ranges.values() for start, end in held)

    def __repr__(self) -> str:
        """Return a hash: two that hold the same text are the same."""
        written = repr(sorted(self.ranges.items())).encode("utf-8", "surrogateescape")
        return hashlib.sha256(written).hexdigest()[:20]


class Part(NamedTuple):
    """What one round is measured on."""

    passages: Passages | None
    """None: all text."""
    queries: frozenset[str]


def divide(
    dataset: Dataset, competing: Mapping[str, Sequence[Passage]], answers: Mapping[str, Sequence[Passage]], *, seed: int
) -> list[Part]:
    """Return the parts of the rounds, each holding the one before, and of the final; no query is in both.

    ``competing`` says what comes first for each query, best first, ``answers`` what it asks for. Queries are taken in
    an order that the seed decides, from each repository and kind in turn, until their passages are a round's share of
    the text; where that takes in too many queries, more is looked at of each.
    """
    ordered = [query.id for query in in_turn(dataset.queries, seed=seed) if answers.get(query.id)]
    everyone = frozenset(query.id for query in dataset.queries)
    most = int(_ROUNDS_QUERIES * len(everyone))
    total = sum(len(source.data) for repository in dataset.repositories for source in repository.files())
    parts: list[Part] = []
    if len(everyone) >= _LEAST_QUERIES:
        depth, taken = _depth(ordered[:most], competing, answers, SHARES[-1] * total)
        sizes = _growing(ordered[:taken], competing, answers, depth)
        for share in SHARES:
            count = max(1, sum(size <= share * total for size in sizes)) if sizes else 0
            chosen = ordered[: taken if share == SHARES[-1] else count]
            part = Part(_passages(chosen, competing, answers, depth), frozenset(chosen))
            if chosen and (not parts or part.queries != parts[-1].queries):
                parts.append(part)
    seen = parts[-1].queries if parts else frozenset()
    return [*parts, Part(None, everyone - seen)]


def in_turn(queries: Sequence[Query], *, seed: int) -> Iterator[Query]:
    """Yield the queries, of each repository and kind one after the other, each group in an order of the seed's."""
    groups: dict[tuple[str, str], list[Query]] = {}
    for query in sorted(queries, key=lambda query: _order(query.id, seed)):
        groups.setdefault((query.cluster, query.kind), []).append(query)
    waiting = [groups[name] for name in sorted(groups, key=lambda name: _order("\0".join(name), seed))]
    while waiting:
        for group in waiting:
            yield group.pop(0)
        waiting = [group for group in waiting if group]


def _depth(
    ordered: Sequence[str],
    competing: Mapping[str, Sequence[Passage]],
    answers: Mapping[str, Sequence[Passage]],
    room: float,
) -> tuple[int, int]:
    """Return how much is looked at of each query's ranking, and for how many queries that fits."""
    found = (DEPTHS[0], 1)
    for depth in DEPTHS:
        fitting = sum(size <= room for size in _growing(ordered, competing, answers, depth))
        if depth > DEPTHS[0] and fitting < len(ordered):
            break
        found = (depth, max(fitting, 1))
    return found


def _growing(
    ordered: Sequence[str],
    competing: Mapping[str, Sequence[Passage]],
    answers: Mapping[str, Sequence[Passage]],
    depth: int,
) -> list[int]:
    """Return the bytes of the passages of the first query, of the first two, and so on; no less than they are."""
    total, seen, sizes = 0, set(), []
    for name in ordered:
        fresh = [part for part in _of_query(name, competing, answers, depth) if part not in seen]
        seen |= set(fresh)
        total += sum(part.end - part.start for part in fresh)
        sizes.append(total)
    return sizes


def _passages(
    chosen: Iterable[str],
    competing: Mapping[str, Sequence[Passage]],
    answers: Mapping[str, Sequence[Passage]],
    depth: int,
) -> Passages:
    return Passages.of(part for name in chosen for part in _of_query(name, competing, answers, depth))


def _of_query(
    name: str, competing: Mapping[str, Sequence[Passage]], answers: Mapping[str, Sequence[Passage]], depth: int
) -> list[Passage]:
    """Return what comes first for a query, up to a depth in tokens, and its answers."""
    found, read = list(answers[name]), 0
    for part in competing.get(name, ()):
        if read >= depth:
            break
        found.append(part)
        read += part.tokens
    return found


def _order(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogateescape")).digest()


def asking(dataset: Dataset, queries: frozenset[str]) -> Dataset:
    """Return the dataset with these queries alone; what is hidden stays hidden."""
    return replace(
        dataset,
        queries=tuple(query for query in dataset.queries if query.id in queries),
        annotations=tuple(note for note in dataset.annotations if note.query_id in queries),
    )


@dataclass(frozen=True, kw_only=True)
class PartLoader:
    """Loads a dataset with some of its queries: how another process comes by what a round is measured on."""

    version: ClassVar[str] = "1"

    inner: DatasetLoader
    limit: int | None
    seed: int
    queries: frozenset[str]

    def load(self) -> Dataset:
        """Return the dataset."""
        return asking(draw_queries(self.inner.load(), self.limit, seed=self.seed), self.queries)
