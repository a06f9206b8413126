"""What the round is measured on: the same for the same seed, no larger than allowed, and with all answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chunkers.contract import file_problems
from chunkers.fixed_lines import FixedLines
from chunkers.sources import Skipped
from chunkers.types import Piece, SourceFile
from evaluation.experiment.code import plugin_inputs
from evaluation.recommend.sampling import (
    CHOOSING_SHARE,
    SHARE,
    Passage,
    Passages,
    asking,
    by_rank,
    divide,
    evenly,
)
from evaluation.recommend.texts import IndexTexts, numbered, ranges_of
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


def test_a_repository_of_many_queries_is_asked_as_evenly_as_one_of_few() -> None:
    """Any beginning of the order holds the same part of both, give or take a query."""
    sizes = {"large": 60, "middle": 20, "small": 5}
    queries = [Query(f"{name}-{k}", "?", name) for name, count in sizes.items() for k in range(count)]
    ordered = evenly(queries, seed=1)
    for count in range(1, len(ordered) + 1):
        held = Counter(query.repo for query in ordered[:count])
        for name, size in sizes.items():
            assert abs(held[name] - count * size / len(ordered)) <= 1.5
    assert [query.id for query in evenly(queries, seed=2)] != [query.id for query in ordered]


def test_what_comes_first_for_each_query_comes_first() -> None:
    """Then what is second; short rankings end."""
    one, two, three, four = (Passage(("r", "f.py"), at, at + 1) for at in range(4))
    assert by_rank([[one, two], [], [three], [four]]) == [one, three, four, two]
    assert by_rank([]) == []


def test_a_query_without_an_answer_chooses_nobody() -> None:
    """Two thirds of all queries choose, of those that have an answer; three queries are too few to divide."""
    whole = _dataset(1, 9, 50)
    answered = {query.id: [Passage(("r0", "r0.py"), 0, 6)] for query in whole.queries[:4]}
    found = divide(whole, {}, answered, share=lambda passages: passages.size / 3000, seed=0)
    assert found is not None
    assert found.choosing == found.part.queries == frozenset(answered)
    assert divide(whole, {}, {}, share=lambda _: 0.0, seed=0) is None
    four, three = (asking(whole, frozenset(query.id for query in whole.queries[:count])) for count in (4, 3))
    assert divide(four, {}, answered, share=lambda _: 0.0, seed=0) is not None
    assert divide(three, {}, answered, share=lambda _: 0.0, seed=0) is None


def test_as_many_passages_as_there_is_room_for() -> None:
    """Exactly the share is allowed; where one answer is too large, it is there all the same."""
    whole = _dataset(1, 6, 2000)
    names = [query.id for query in whole.queries]
    gold = {name: [Passage(("r0", "r0.py"), 100 * k, 100 * k + 10)] for k, name in enumerate(names)}
    first = {name: [Passage(("r0", "r0.py"), 5000 + 100 * k, 5000 + 100 * k + 10)] for k, name in enumerate(names)}

    def sized(total: float) -> tuple[int, int]:
        found = divide(whole, first, gold, share=lambda passages: passages.size / total, seed=1)
        assert found is not None
        return len(found.part.queries), found.part.passages.size

    assert sized(80 / SHARE) == (4, 80)
    assert sized(79 / SHARE) == (4, 70)
    assert sized(40 / SHARE) == (4, 40)
    assert sized(39 / SHARE) == (3, 30)
    assert sized(1 / SHARE) == (1, 10)


def test_texts_are_those_that_touch_some_passage_in_any_file() -> None:
    """Paths lie one after the other, and equal texts have one number."""
    begins = {"a.py": 0, "b.py": 101}
    passages = Passages.of([Passage(("r", "b.py"), 10, 20), Passage(("r", "a.py"), 90, 100)])
    ranges = ranges_of(passages, begins)
    assert ranges == [(90, 100), (111, 121)]
    starts = np.array([0, 50, 95, 101, 120, 121])
    texts = IndexTexts(np.array([7, 8, 9, 7, 5, 5]), starts, starts + 5)
    assert texts.within(ranges).tolist() == [9, 5]
    assert texts.within([]).tolist() == []
    other = IndexTexts(np.array([5, 3]), np.array([0, 1]), np.array([1, 2]))
    one, two = numbered([texts, other])
    assert (one.keys.tolist(), two.keys.tolist()) == ([2, 3, 4, 2, 1, 1], [1, 0])
    assert one.starts.tolist() == starts.tolist()
    assert numbered([]) == []


def test_a_chunker_within_passages_promises_no_more_than_it_keeps() -> None:
    """One that loses text inside, with one around that does not: some text is lost, and that is no broken promise."""

    class Losing(FixedLines):
        def split(self, source: SourceFile) -> list[Piece]:
            return super().split(source)[1:]

    source = SourceFile("f.py", b"x = 1\n" * 40, "python", "r")
    passages = Passages.of([Passage(("r", "f.py"), 0, 62)])
    within = Within.of(Losing(lines=5), passages, around=FixedLines(lines=8))
    covered = {byte for start, end, *_ in within.split(source) for byte in range(start, end)}
    assert covered != set(range(len(source.data)))
    assert list(file_problems(within, source)) == []
