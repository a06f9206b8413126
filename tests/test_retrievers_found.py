"""Tables of what was found: the best of each query, whatever is narrowed, joined or recomputed on the way."""

from __future__ import annotations

import contextlib
import gc
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing import exact
from indexing.exact import exact_scores, faiss_threads, nearest, scored, settled
from indexing.found import Found, in_order, narrowed, none_found, side_by_side, table
from indexing.ties import best, best_of_all
from indexing.types import Hit, Vectors


def unit(rows: np.ndarray) -> Vectors:
    """Return rows of length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def random_rows(count: int, *, seed: int, dimensions: int = 16) -> Vectors:
    """Return unit rows in all directions."""
    return unit(np.random.default_rng(seed).normal(size=(count, dimensions)))


@st.composite
def tables(draw: st.DrawFn) -> Found:
    """Return a table in no order, of few distinct scores, with places that are no hits."""
    queries, wide = draw(st.integers(1, 4)), draw(st.integers(0, 24))
    scores = draw(
        st.lists(st.lists(st.integers(-3, 3), min_size=wide, max_size=wide), min_size=queries, max_size=queries)
    )
    random = draw(st.randoms(use_true_random=False))
    positions = np.full((queries, wide), -1, dtype=np.int64)
    for row in positions:
        row[:] = random.sample(range(3 * wide), wide) if wide else []
        row[[random.random() < 0.3 for _ in row]] = -1
    return Found(positions, np.array(scores, dtype=np.float64).reshape(queries, wide))


def sorted_hits(found: Found, row: int) -> list[Hit]:
    """Return the hits of a row, best first."""
    pairs = zip(found.positions[row].tolist(), found.scores[row].tolist(), strict=True)
    return sorted((Hit(*pair) for pair in pairs if pair[0] >= 0), key=lambda hit: (-hit.score, hit.position))


@given(found=tables(), depth=st.integers(0, 30), dtype=st.sampled_from(["float32", "float64"]), scale=st.floats(-9, 9))
def test_the_best_come_in_order(found: Found, depth: int, dtype: str, scale: float) -> None:
    """Score descending, then position ascending, 0 and -0 alike; what is no hit is none."""
    found = Found(found.positions, (scale * found.scores).astype(dtype))
    expected = [sorted_hits(found, row)[:depth] for row in range(len(found.positions))]
    assert in_order(found, depth=depth).hits() == expected


@given(found=tables(), depth=st.integers(0, 30), near=st.sampled_from([None, 0.0, 0.5, 1.0, 2.0]))
def test_a_narrow_table_holds_all_that_may_be_among_the_best(found: Found, depth: int, near: float | None) -> None:
    """Ties of the last place, and what is near behind it; and a wide one is as narrow as the widest row needs."""
    small = narrowed(found, depth=depth) if near is None else narrowed(found, depth=depth, near=near)
    needed = 0
    for row in range(len(found.positions)):
        ranked = sorted_hits(found, row)
        floor = ranked[depth - 1].score - (near or 0.0) if 0 < depth <= len(ranked) else -math.inf
        wanted = [hit for hit in ranked if hit.score >= floor]
        kept = sorted_hits(small, row)
        assert set(wanted) <= set(kept) <= set(ranked)
        needed = max(needed, len(wanted) if 0 < depth <= len(ranked) else found.positions.shape[1])
    wide = found.positions.shape[1]
    assert small.positions.shape == small.scores.shape
    assert small.positions.shape[1] == (needed if depth and wide > 2 * depth else wide)


@given(found=tables())
def test_rows_of_hits_become_a_table_and_again_hits(found: Found) -> None:
    """Rows of different lengths are filled up with what is no hit; parts lie side by side."""
    rows = [sorted_hits(found, row) for row in range(len(found.positions))]
    columns = [
        (np.array([hit.position for hit in hits], dtype=np.int64), np.array([hit.score for hit in hits]))
        for hits in rows
    ]
    made = table(columns, depth=100)
    assert made.hits() == rows
    assert made.positions.shape[1] == max(map(len, rows))
    assert set(made.positions[made.positions < 0].tolist()) <= {-1}
    assert made.scores.dtype == np.float32
    assert table(columns, depth=100, dtype=np.float64).scores.dtype == np.float64
    both = side_by_side([found, made])
    assert in_order(both, depth=100).positions.shape[1] == found.positions.shape[1] + made.positions.shape[1]
    assert made.at(slice(0, 1)).hits() == rows[:1]


def test_nothing_found_has_no_columns() -> None:
    """A row for each query; no rows make an empty table."""
    none = none_found(3)
    assert (none.positions.shape, none.scores.shape) == ((3, 0), (3, 0))
    assert none.hits() == [[], [], []]
    assert table([], depth=5).positions.shape == (0, 0)


@pytest.mark.parametrize("running", [True, False])
def test_making_hits_leaves_the_garbage_collector_as_it_was(running: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Running or not."""
    (gc.enable if running else gc.disable)()
    try:
        assert Found(np.array([[3, -1]]), np.array([[0.5, 0.0]])).hits() == [[Hit(3, 0.5)]]
        assert gc.isenabled() == running
    finally:
        gc.enable()


@given(scores=st.lists(st.integers(-3, 4), max_size=30), depth=st.integers(-1, 35), above=st.integers(-4, 4))
def test_the_best_of_a_full_list_are_over_the_floor(scores: list[int], depth: int, above: int) -> None:
    """What only reaches the floor is no hit, and a depth of nothing has none."""
    values = np.array(scores, dtype=np.float64)
    order = sorted((at for at in range(len(scores)) if scores[at] > above), key=lambda at: (-scores[at], at))
    assert best_of_all(values, depth=depth, above=above).tolist() == order[: max(depth, 0)]


def test_positions_decide_between_equal_scores_wherever_they_lie() -> None:
    """A list in any order."""
    found = best(np.array([1.0, 2.0, 1.0, 2.0]), np.array([9, 7, 3, 5]), depth=3)
    assert found == [Hit(5, 2.0), Hit(7, 2.0), Hit(3, 1.0)]


def reference(chunks: Vectors, query: np.ndarray, depth: int) -> list[int]:
    """Rank by inner products in float64; ties by position."""
    scores = exact_scores(chunks, np.repeat(query[None], len(chunks), axis=0))
    return sorted(range(len(chunks)), key=lambda at: (-scores[at], at))[:depth]


@pytest.mark.parametrize("size", [1, 4, 5, 12, 13, 14, 40])
@pytest.mark.parametrize("depth", [1, 4, 5, 6, 13, 50])
def test_search_is_exact_at_every_size_and_depth(size: int, depth: int) -> None:
    """Fewer rows than are asked for, as many, one more, and more than are looked at beyond the depth."""
    chunks, asked = random_rows(size, seed=1), random_rows(6, seed=2)
    found = nearest(chunks, asked, depth=depth)
    runs = settled([found], chunks.__getitem__, asked, depth=depth).hits()
    for query, run in zip(asked, runs, strict=True):
        assert [hit.position for hit in run] == reference(chunks, query, depth)
        assert [hit.score for hit in run] == pytest.approx(
            [float(chunks[hit.position] @ query) for hit in run], abs=1e-6
        )


@pytest.mark.parametrize("copies", [8, 9, 10, 40])
@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("depth", [4, 5, 6])
def test_ties_of_the_last_place_are_followed_to_their_end(copies: int, before: int, depth: int) -> None:
    """The lowest positions win, although FAISS may propose any of the copies, and all copies have one score."""
    query = random_rows(1, seed=3)
    other = unit(query + 0.3 * random_rows(1, seed=4))
    far = random_rows(30, seed=5)
    far *= -np.sign(far @ query.T)
    chunks = np.concatenate([far, np.repeat(other, copies, axis=0), np.repeat(query, before, axis=0)])
    asked = np.concatenate([query, random_rows(3, seed=6)])
    runs = settled([nearest(chunks, asked, depth=depth)], chunks.__getitem__, asked, depth=depth).hits()
    for row, run in zip(asked, runs, strict=True):
        assert [hit.position for hit in run] == reference(chunks, row, depth)
    first = runs[0]
    assert [hit.position for hit in first[before:]] == list(range(30, 30 + depth - before))
    assert len({hit.score for hit in first[before:]}) == 1


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_scores_that_differ_by_rounding_are_put_in_their_true_order(data: st.DataObject) -> None:
    """Gaps of a tenth to four times of what float32 may confuse, in one shard and in several, at any depth."""
    query = np.zeros((1, 8), dtype=np.float32)
    query[0, :2] = 0.8, 0.6
    count = data.draw(st.integers(1, 40))
    steps = data.draw(st.lists(st.integers(0, 40), min_size=count, max_size=count))
    rows = np.zeros((count, 8), dtype=np.float32)
    rows[:, 0] = 0.5 + np.array(steps) * 4e-7
    rows[:, 1] = 0.5
    depth = data.draw(st.integers(1, 12))
    asked = np.repeat(query, 2, axis=0)
    whole = settled([nearest(rows, asked, depth=depth)], rows.__getitem__, asked, depth=depth).hits()
    assert [hit.position for hit in whole[0]] == reference(rows, query[0], depth)
    assert whole[0] == whole[1]
    cut = data.draw(st.integers(0, count))
    parts = []
    for start, end in ((0, cut), (cut, count)):
        if start < end:
            one = nearest(rows[start:end], asked, depth=depth)
            parts.append(Found(np.where(one.positions >= 0, one.positions + start, -1), one.scores))
    assert settled(parts, rows.__getitem__, asked, depth=depth).hits() == whole


@pytest.mark.parametrize("cells", [1, 7, 30, 400_000])
@pytest.mark.parametrize("pairs", [1, 5, 8192])
def test_blocks_of_work_change_nothing(cells: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few candidates are put in order, or computed again, at a time; queries without a hit included."""
    chunks, asked = random_rows(60, seed=7), random_rows(9, seed=8)
    chunks[20:50] = chunks[:30]
    halves = [nearest(chunks[:30], asked, depth=10), nearest(chunks[30:], asked, depth=10)]
    halves[1] = Found(halves[1].positions + 30, halves[1].scores)
    halves[0].positions[4], halves[1].positions[4] = -1, -1
    halves[0].positions[6, 3:] = -1
    halves[1].positions[6] = -1
    monkeypatch.setattr(exact, "_CELLS_AT_ONCE", cells)
    monkeypatch.setattr(exact, "_AT_ONCE", pairs)
    monkeypatch.setattr(exact, "_ROWS_INDEXED", max(pairs, 4))
    runs = settled(halves, chunks.__getitem__, asked, depth=10).hits()
    for row, (query, run) in enumerate(zip(asked, runs, strict=True)):
        found = [hit.position for hit in run]
        if row in (4, 6):
            assert len(found) == (0 if row == 4 else 3)
        else:
            assert found == reference(chunks, query, 10)
    tied = np.repeat(chunks[:1], 50, axis=0)
    assert [hit.position for hit in nearest(tied, chunks[:1], depth=6).hits()[0]] == list(range(6))


def test_only_vectors_that_are_in_doubt_are_looked_up() -> None:
    """Near scores are computed again from their vectors, which are asked for once, ascending; far ones are not."""
    chunks = unit(np.array([[1, 0], [1, 1e-4], [1, 1], [0, 1], [-1, 0.2]]))
    asked = unit(np.array([[1.0, 0.0], [0.3, 1.0]]))
    looked: list[list[int]] = []

    def vectors_of(positions: np.ndarray) -> Vectors:
        looked.append(positions.tolist())
        rows: Vectors = chunks[positions]
        return rows

    found = scored(chunks, asked, np.array([[0, 1, 2, 3, -1], [3, 2, 1, -1, -1]]))
    runs = settled([found], vectors_of, asked, depth=5).hits()
    assert [[hit.position for hit in run] for run in runs] == [[0, 1, 2, 3], [3, 2, 1]]
    assert looked == [[0, 1]]


def test_the_number_of_threads_is_put_back() -> None:
    """FAISS uses as many as are asked for, and afterwards as many as before, after an error too."""
    import faiss

    before = faiss.omp_get_max_threads()
    with contextlib.suppress(ZeroDivisionError), faiss_threads(before + 2):
        assert faiss.omp_get_max_threads() == before + 2
        raise ZeroDivisionError
    assert faiss.omp_get_max_threads() == before
