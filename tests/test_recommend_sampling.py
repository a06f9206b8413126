"""The parts of a race: growing, disjoint from the final, the same for the same seed, and no larger than allowed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chunkers.fixed_lines import FixedLines
from chunkers.sources import Skipped
from chunkers.types import SourceFile
from evaluation.experiment.keys import plugin_inputs
from evaluation.recommend.sampling import SHARES, Passage, Passages, asking, divide, in_turn
from evaluation.recommend.within import Within, touching
from ground_truth.types import Annotation, Dataset, Query


@dataclass(frozen=True)
class Files:
    """A repository that is at hand."""

    name: str
    kept: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the files."""
        return iter(self.kept)

    def read(self, path: str) -> SourceFile | None:
        """Return one file."""
        return next((source for source in self.kept if source.path == path), None)


def _dataset(repositories: int, queries: int, lines: int) -> Dataset:
    names = [f"r{k}" for k in range(repositories)]
    kept = tuple(Files(name, (SourceFile("f.py", b"x = 1\n" * lines, "python", name),)) for name in names)
    asked = [(f"{name}-{k}", name, "docstrings" if k % 2 else "comments") for name in names for k in range(queries)]
    return Dataset(
        "own",
        kept,
        tuple(Query(each, f"query {each}", repo, kind=kind) for each, repo, kind in asked),
        tuple(Annotation(each, repo, "f.py", 1, 1) for each, repo, _ in asked),
    )


def _found(whole: Dataset, lines: int, seed: int) -> tuple[dict[str, list[Passage]], dict[str, list[Passage]]]:
    """Return passages of 60 bytes and 300 tokens each that come first for each query, and answers of 6 bytes."""
    rng = np.random.default_rng(seed)
    places = {query.id: rng.integers(0, max(1, lines - 10), 20) for query in whole.queries}
    files = {query.id: (query.repo, "f.py") for query in whole.queries}
    first = {
        name: [Passage(files[name], 6 * int(at), 6 * int(at) + 60, 300) for at in found]
        for name, found in places.items()
    }
    return first, {name: [Passage(files[name], 0, 6)] for name in places}


@given(
    repositories=st.integers(1, 26),
    queries=st.integers(0, 30),
    lines=st.sampled_from([20, 500, 5_000]),
    seed=st.integers(0, 5),
)
def test_parts_grow_and_the_final_is_fresh(repositories: int, queries: int, lines: int, seed: int) -> None:
    """Each round holds the one before; no query is in a round and in the final; answers are among the passages."""
    whole = _dataset(repositories, queries, lines)
    first, gold = _found(whole, lines, seed)
    parts = divide(whole, first, gold, seed=seed)
    assert repr(parts) == repr(divide(whole, first, gold, seed=seed))
    *rounds, final = parts
    assert final.passages is None
    seen = rounds[-1].queries if rounds else frozenset()
    assert final.queries | seen == {query.id for query in whole.queries}
    assert not final.queries & seen
    assert len(seen) <= max(1, len(whole.queries) / 2)
    for before, after in itertools.pairwise(rounds):
        assert before.queries < after.queries
    total = 6 * lines * repositories
    for share, each in zip(SHARES, rounds, strict=False):
        assert each.passages is not None
        assert len(each.queries) == 1 or each.passages.size <= SHARES[-1] * total
        held = each.passages.ranges
        assert all(any(a <= 0 and b >= 6 for a, b in held[part.file[1]]) for q in each.queries for part in gold[q]), (
            share
        )
    if len(whole.queries) >= 8 and lines == 5_000:
        assert rounds


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=12), st.integers(1, 20))
def test_chunks_that_touch_a_passage(found: list[tuple[int, int]], step: int) -> None:
    """A chunk is looked at exactly where it shares a byte with some passage; passages are joined and apart."""
    passages = Passages.of(Passage(("r", "f.py"), start, start + length) for start, length in found)
    ranges = passages.ranges.get("f.py", ())
    covered = {byte for start, length in found for byte in range(start, start + length)}
    assert covered == {byte for start, end in ranges for byte in range(start, end)}
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ranges))
    starts = np.arange(0, 100, step)
    if ranges:
        kept = touching(starts, starts + step, ranges)
        assert kept.tolist() == [any(byte in covered for byte in range(s, s + step)) for s in starts.tolist()]


def test_a_chunker_within_passages_cuts_as_ever_and_has_a_key_of_its_own() -> None:
    """Its chunks are some of the whole file's; other passages and other parameters make another key."""
    source = SourceFile("f.py", b"x = 1\n" * 40, "python", "r")
    passages = Passages.of([Passage(("r", "f.py"), 61, 62), Passage(("r", "f.py"), 200, 220)])
    within = Within.of(FixedLines(lines=5), passages)
    pieces = within.split(source)
    assert set(pieces) < set(FixedLines(lines=5).split(source))
    assert [piece.start for piece in pieces] == [60, 180, 210]
    assert within.split(SourceFile("f.py", source.data, "python", "snapshot")) == pieces, "kept by path and content"
    assert within.split(SourceFile("g.py", b"x = 1\n", "python", "r")) == []
    keys = [
        str(plugin_inputs(each))
        for each in (within, Within.of(FixedLines(lines=6), passages), Within.of(FixedLines(lines=5), Passages({})))
    ]
    assert len(set(keys)) == 3


def test_queries_are_taken_from_each_repository_and_kind_in_turn() -> None:
    """Four repositories with two kinds each: the first eight queries are one of each."""
    whole = _dataset(4, 10, 20)
    first = list(in_turn(whole.queries, seed=3))[:8]
    assert len({(query.repo, query.kind) for query in first}) == 8
    assert len(asking(whole, frozenset(query.id for query in first)).annotations) == 8
