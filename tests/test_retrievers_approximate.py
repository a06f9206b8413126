"""Approximate indexes: how they are built, how hard they look, what they take and what they miss."""

from __future__ import annotations

import faiss
import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing.approximate import Tuning, approximate_search, build_approximate, stored_bytes
from indexing.dense import Dense
from indexing.types import QueryBatch, SearchSpace, Vectors


def random_rows(count: int, *, seed: int, dimensions: int = 16) -> Vectors:
    """Return unit rows in all directions."""
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_an_inverted_file_has_as_many_lists_as_its_rows_can_train() -> None:
    """Four times the square root, at most one for every 39 rows, at least one; and no more are read than there are."""
    for rows, lists, effort, expected in (
        (400, None, 64, (10, 10)),
        (400, 5, 3, (5, 3)),
        (77, None, 64, (1, 1)),
        (78, None, 64, (2, 2)),
        (30, 8, 2, (1, 1)),
        (25_000, None, 64, (632, 64)),
    ):
        index = build_approximate(random_rows(rows, seed=9, dimensions=2), Tuning("ivf", 4, effort, lists))
        assert (index.nlist, index.nprobe) == expected
        assert index.ntotal == rows


def test_a_small_space_is_no_reason_for_warnings(capfd: pytest.CaptureFixture[str]) -> None:
    """One row is one list, and FAISS has nothing to say about it."""
    index = build_approximate(random_rows(1, seed=9), Tuning("ivf", 4, 1, None))
    assert index.ntotal == 1
    assert capfd.readouterr() == ("", "")


def test_a_graph_has_its_links_and_keeps_as_many_candidates_as_are_asked_for() -> None:
    """At least the effort; a deeper search keeps more."""
    chunks = random_rows(60, seed=10)
    for links, built in ((4, 200), (100, 200), (110, 220)):
        tuning = Tuning("hnsw", links, 16, None)
        index = build_approximate(chunks, tuning)
        assert (index.hnsw.efConstruction, index.hnsw.nb_neighbors(1)) == (built, links)
        for wide, kept in ((5, 16), (30, 30)):
            scores, positions = approximate_search(index, chunks[:2], tuning, wide=wide)
            assert (index.hnsw.efSearch, scores.shape, positions.shape) == (kept, (2, wide), (2, wide))
        assert stored_bytes(index) == faiss.serialize_index(index).nbytes > chunks.nbytes


def test_sizes_of_indexes() -> None:
    """Four bytes for each number where search is exact; more with links; nothing where there is nothing."""
    space = SearchSpace([""] * 60, random_rows(60, seed=11))
    assert Dense().prepare(space).bytes == 4 * 60 * 16
    assert Dense(index="hnsw").prepare(space).bytes > 4 * 60 * 16
    assert Dense().prepare(SearchSpace([""])).bytes == 0


def test_nothing_to_search_has_no_width() -> None:
    """No chunks, or no queries, agree with any model; vectors are wanted on both sides."""
    none, some = np.zeros((0, 3), dtype=np.float32), random_rows(1, seed=14)
    for index in ("flat", "hnsw"):
        retriever = Dense(index=index)
        assert retriever.search(SearchSpace([], none), QueryBatch(["a"], some), depth=2) == [[]]
        assert retriever.search(SearchSpace(["a"], some), QueryBatch([], none), depth=2) == []
        for chunks, asked in ((some, None), (None, some)):
            with pytest.raises(UsageError, match="choose an embedder"):
                retriever.search(SearchSpace(["a"], chunks), QueryBatch(["a"], asked), depth=2)


def test_recall_of_an_approximate_index_is_a_share_of_the_exact_hits() -> None:
    """One list of ten that is read finds some; nothing to find is all found."""
    space = SearchSpace([""] * 500, random_rows(500, seed=12))
    queries = QueryBatch([""] * 30, random_rows(30, seed=13))
    coarse = Dense(index="ivf", lists=10, effort=1)
    exact_runs, runs = Dense().search(space, queries, depth=7), coarse.search(space, queries, depth=7)
    both = [
        len({hit.position for hit in one} & {hit.position for hit in two})
        for one, two in zip(exact_runs, runs, strict=True)
    ]
    recall = coarse.diagnostics(space, queries, depth=7)["recall_against_exact"]
    assert recall == pytest.approx(sum(both) / (7 * 30))
    assert 0.1 < recall < 0.95
    empty = SearchSpace([], space.vectors[:0] if space.vectors is not None else None)
    assert coarse.diagnostics(empty, queries, depth=7) == {"recall_against_exact": 1.0}
