"""What the round is measured on: the same for the same seed, no larger than allowed, and with all answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chunkers.fixed_lines import FixedLines
from chunkers.sources import Skipped
from chunkers.types import SourceFile
from evaluation.experiment.code import plugin_inputs
from evaluation.recommend.sampling import (
    CHOOSING_SHARE,
    SHARE,
    Passage,
    Passages,
    asking,
    divide,
    evenly,
)
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
    kept = tuple(Files(name, (SourceFile(f"{name}.py", b"x = 1\n" * lines, "python", name),)) for name in names)
    asked = [(f"{name}-{k}", name, "docstrings" if k % 2 else "comments") for name in names for k in range(queries)]
    return Dataset(
        "own",
        kept,
        tuple(Query(each, f"query {each}", repo, kind=kind) for each, repo, kind in asked),
        tuple(Annotation(each, repo, f"{repo}.py", 1, 1) for each, repo, _ in asked),
    )


def _found(whole: Dataset, lines: int, seed: int) -> tuple[dict[str, list[Passage]], dict[str, list[Passage]]]:
    """Return passages of 60 bytes that come first for each query, and answers of 6 bytes."""
    rng = np.random.default_rng(seed)
    places = {query.id: rng.integers(0, max(1, lines - 10), 20) for query in whole.queries}
    files = {query.id: (query.repo, f"{query.repo}.py") for query in whole.queries}
    first = {
        name: [Passage(files[name], 6 * int(at), 6 * int(at) + 60) for at in found] for name, found in places.items()
    }
    return first, {name: [Passage(files[name], 6 * int(at[0]), 6 * int(at[0]) + 6)] for name, at in places.items()}


@given(
    repositories=st.integers(1, 26),
    queries=st.integers(0, 30),
    lines=st.sampled_from([20, 500, 5_000]),
    seed=st.integers(0, 5),
)
def test_the_round_holds_its_answers_within_its_share(repositories: int, queries: int, lines: int, seed: int) -> None:
    """Answers are among the passages, which touch no more than allowed; queries are left for the final alone."""
    whole = _dataset(repositories, queries, lines)
    first, gold = _found(whole, lines, seed)
    total = 6 * lines * repositories
    division = divide(whole, first, gold, share=lambda passages: passages.size / total, seed=seed)
    again = divide(whole, first, gold, share=lambda passages: passages.size / total, seed=seed)
    assert repr(division) == repr(again)
    assert bool(division) == (len(whole.queries) >= 4)
    if division is None:
        return
    part = division.part
    assert 1 <= len(part.queries) <= len(division.choosing) == int(CHOOSING_SHARE * len(whole.queries))
    assert part.queries <= division.choosing
    assert len(part.queries) == 1 or part.passages.size <= SHARE * total
    held = part.passages.ranges
    parts = [passage for name in part.queries for passage in gold[name]]
    assert all(any(a <= each.start and b >= each.end for a, b in held[each.file[1]]) for each in parts)
    if len(whole.queries) >= 8 and lines == 5_000:
        assert part.queries == division.choosing, "there is room for all"


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


def test_a_chunker_within_passages_cuts_as_ever_and_another_cuts_around_them() -> None:
    """All text is there, in order; other passages, parameters and neighbours make another key."""
    source = SourceFile("f.py", b"x = 1\n" * 40, "python", "r")
    passages = Passages.of([Passage(("r", "f.py"), 61, 62), Passage(("r", "f.py"), 200, 220)])
    inner, around = FixedLines(lines=5), FixedLines(lines=8)
    within = Within.of(inner, passages, around=around)
    pieces = within.split(source)
    own = [piece for piece in inner.split(source) if piece.start in {60, 180, 210}]
    others = [piece for piece in around.split(source) if piece.start in {0, 96, 144}]
    assert pieces == sorted([*own, *others]), "48 and 192 touch a passage"
    assert within.split(SourceFile("f.py", source.data, "python", "snapshot")) == pieces, "kept by path and content"
    elsewhere = SourceFile("g.py", b"x = 1\n" * 9, "python", "r")
    assert within.split(elsewhere) == around.split(elsewhere)
    same = Within.of(inner, passages, around=inner)
    assert same.split(source) == inner.split(source), "a scout scores as it does on all text"
    keys = [
        str(plugin_inputs(each))
        for each in (
            within,
            same,
            Within.of(FixedLines(lines=6), passages, around=around),
            Within.of(inner, Passages({}), around=around),
        )
    ]
    assert len(set(keys)) == 4


def test_queries_are_taken_evenly() -> None:
    """Any beginning of the order holds about the same part of each repository and kind."""
    whole = _dataset(4, 10, 20)
    ordered = evenly(whole.queries, seed=3)
    assert sorted(query.id for query in ordered) == sorted(query.id for query in whole.queries)
    half = ordered[: len(ordered) // 2]
    groups = Counter((query.repo, query.kind) for query in half)
    assert len(groups) == 8
    assert set(groups.values()) <= {2, 3}
    assert len(asking(whole, frozenset(query.id for query in half)).annotations) == len(half)
