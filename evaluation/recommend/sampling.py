"""What the round is measured on: queries, and the passages that candidates cut in their own way.

The passages are the answers of these queries, and the top results of a few candidates that search everything: first the
best result of each query, then the second, as far as the round may go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from ground_truth.draw import draw_queries
from ground_truth.types import Dataset, DatasetLoader, Query

SHARE = 0.14
"""Share of all candidates' texts that the passages may touch: if the answers of all queries touch more, the round asks
fewer."""
CHOOSING_SHARE = 2 / 3
"""Share of the queries that choose the finalists; the others give means that are not flattered."""
_LEAST_QUERIES = 4
"""With fewer there is nothing to divide: there is only the final."""

FileName = tuple[str, str]
"""Repository and path."""


class Passage(NamedTuple):
    """Half-open bytes of a file."""

    file: FileName
    start: int
    end: int


@dataclass(frozen=True, repr=False)
class Passages:
    """Text that a round searches: path → half-open byte ranges, ascending and disjoint.

    Files with the same path in several repositories, usually snapshots of one, share their ranges: a chunker's result
    for a file is cached by path and content.
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
        """Total bytes."""
        return sum(end - start for held in self.ranges.values() for start, end in held)

    def __repr__(self) -> str:
        """Return a hash: two with the same text have the same one."""
        written = repr(sorted(self.ranges.items())).encode("utf-8", "surrogateescape")
        return hashlib.sha256(written).hexdigest()[:20]


class Part(NamedTuple):
    """What the round is measured on."""

    passages: Passages
    queries: frozenset[str]


class Division(NamedTuple):
    """Which queries choose the finalists, and what the round is measured on."""

    choosing: frozenset[str]
    part: Part


def divide(
    dataset: Dataset,
    competing: Mapping[str, Sequence[Passage]],
    answers: Mapping[str, Sequence[Passage]],
    *,
    share: Callable[[Passages], float],
    seed: int,
) -> Division | None:
    """Return which queries choose and what the round is measured on; None if there is nothing to divide.

    ``competing`` gives the top results of each query, best first, ``answers`` its gold, and ``share`` the part of all
    candidates' texts that some passages touch. The round asks as many of the choosing queries as it can.
    """
    ordered = [query.id for query in evenly(dataset.queries, seed=seed) if answers.get(query.id)]
    most = ordered[: int(CHOOSING_SHARE * len(dataset.queries))]
    if len(dataset.queries) < _LEAST_QUERIES or not most:
        return None

    def gold(count: int) -> list[Passage]:
        return [part for name in most[:count] for part in answers[name]]

    asked = most[: _largest(1, len(most), lambda count: share(Passages.of(gold(count))) <= SHARE)]
    wanted = list(dict.fromkeys([*gold(len(asked)), *by_rank([competing.get(name, ()) for name in asked])]))
    least = len(set(gold(len(asked))))
    size = _largest(least, len(wanted), lambda count: share(Passages.of(wanted[:count])) <= SHARE)
    return Division(frozenset(most), Part(Passages.of(wanted[:size]), frozenset(asked)))


def evenly(queries: Sequence[Query], *, seed: int) -> list[Query]:
    """Return the queries in an order in which every prefix has about the same share of each repository and kind."""
    groups: dict[tuple[str, str], list[Query]] = {}
    for query in sorted(queries, key=lambda query: _order(query.id, seed)):
        groups.setdefault((query.cluster, query.kind), []).append(query)
    placed = [
        ((place + 0.5) / len(group), _order(query.id, seed), query)
        for group in groups.values()
        for place, query in enumerate(group)
    ]
    return [query for *_, query in sorted(placed, key=lambda each: each[:2])]


def by_rank(rankings: Sequence[Sequence[Passage]]) -> list[Passage]:
    """Return the first of each ranking, then the second of each, and so on."""
    deepest = max(map(len, rankings), default=0)
    return [ranking[rank] for rank in range(deepest) for ranking in rankings if rank < len(ranking)]


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, given that all below it fit too; the lowest in any case."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


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
    """Loads a dataset with some of its queries, so that another process can load the data of a round."""

    version: ClassVar[str] = "1"

    inner: DatasetLoader
    limit: int | None
    seed: int
    queries: frozenset[str]

    def load(self) -> Dataset:
        """Return the dataset."""
        return asking(draw_queries(self.inner.load(), self.limit, seed=self.seed), self.queries)
