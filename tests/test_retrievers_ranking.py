"""Every retriever: one order for ties, the same result whatever the batch, and never more than was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing.code_words import code_words
from indexing.contract import search_problems
from indexing.dense import Dense
from indexing.diversity import MMR, Dartboard
from indexing.encoders.hashing import Hashing
from indexing.exact import faiss_threads
from indexing.hybrid import Hybrid
from indexing.registry import RETRIEVERS
from indexing.ties import best, best_of_all
from indexing.types import Hit, QueryBatch, SearchSpace, Vectors

WORDS = "get set parse http server request token path file read write cache".split()
ALL = [*sorted(RETRIEVERS.builtin.keys() - {"rerank"})]  # which needs a model: test_rerank.py
ALL += ["dense:index=hnsw", "dense:index=ivf", "hybrid:fusion=weighted,weight=0.7"]


def _unit(rows: np.ndarray) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _random(count: int, *, seed: int, dimensions: int = 32) -> Vectors:
    return _unit(np.random.default_rng(seed).normal(size=(count, dimensions)))


def _space(texts: list[str]) -> SearchSpace:
    return SearchSpace(texts, Hashing().encode(texts, kind="document"))


def _queries(texts: list[str]) -> QueryBatch:
    return QueryBatch(texts, Hashing().encode(texts, kind="query"))


def exact_search(chunks: Vectors, asked: Vectors, *, depth: int) -> list[list[Hit]]:
    """Search vectors that have no texts."""
    return Dense().search(SearchSpace([""] * len(chunks), chunks), QueryBatch([""] * len(asked), asked), depth=depth)


def _reference(chunks: Vectors, query: np.ndarray, depth: int) -> list[int]:
    """Rank by exact inner products, summed per row, ties by position."""
    scores = [math.fsum(float(a) * float(b) for a, b in zip(row, query, strict=True)) for row in chunks]
    return sorted(range(len(chunks)), key=lambda at: (-round(scores[at], 13), at))[:depth]


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=20, deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=30),
    asked=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=4),
    depth=st.integers(1, 40),
)
def test_contract_of_every_retriever(name: str, texts: list[str], asked: list[str], depth: int) -> None:
    """Hits are distinct positions, at most depth, scores never rise, ties rise in position, queries do not interact."""
    retriever = RETRIEVERS.create(name)
    space, queries = _space(texts), _queries(asked)
    problems = search_problems(retriever, space, queries, depth=depth, alone=lambda number: _queries([asked[number]]))
    assert list(problems) == []


@pytest.mark.parametrize("name", ALL)
def test_nothing_to_search(name: str) -> None:
    """An empty space, no queries, and depth 0 give empty runs."""
    retriever = RETRIEVERS.create(name)
    assert retriever.search(_space([]), _queries(["get"]), depth=5) == [[]]
    assert retriever.search(_space(["get"]), _queries([]), depth=5) == []
    assert retriever.search(_space(["get"]), _queries(["get"]), depth=0) == [[]]


@pytest.mark.parametrize("name", [name for name in ALL if RETRIEVERS.create(name).uses_vectors])
def test_vectors_are_needed(name: str) -> None:
    """A retriever of vectors says so when there are none."""
    with pytest.raises(UsageError, match="choose an embedder"):
        RETRIEVERS.create(name).search(SearchSpace(["a"]), QueryBatch(["a"]), depth=1)


@pytest.mark.parametrize("depth", [1, 7, 50, 500])
def test_dense_is_exact(depth: int) -> None:
    """Dense search ranks as exact arithmetic does, duplicates and all."""
    chunks = _random(300, seed=1)
    chunks[40:60] = chunks[5]
    chunks[100:140] = chunks[200]
    asked = np.concatenate([_random(30, seed=2), chunks[5:6], chunks[200:201]])
    runs = exact_search(chunks, asked, depth=depth)
    for query, run in zip(asked, runs, strict=True):
        assert [hit.position for hit in run] == _reference(chunks, query, depth)


def test_ties_at_the_last_place_go_to_the_first_positions() -> None:
    """Of a thousand equal chunks the first are returned, though FAISS may return any."""
    chunks = np.repeat(_random(1, seed=3), 1000, axis=0)
    chunks[500] = -chunks[500]
    run = exact_search(chunks, chunks[:1], depth=20)[0]
    assert [hit.position for hit in run] == list(range(20))
    assert len({hit.score for hit in run}) == 1


def test_thread_count_and_batch_size_change_no_rank() -> None:
    """One or two threads, one query or all at once: the same positions, and scores to 1e-6."""
    chunks, asked = _random(2000, seed=4, dimensions=384), _random(40, seed=5, dimensions=384)
    chunks[1000:1500] = chunks[:500]
    whole = exact_search(chunks, asked, depth=30)
    with faiss_threads(1):
        single = [exact_search(chunks, asked[row : row + 1], depth=30)[0] for row in range(len(asked))]
    assert [[hit.position for hit in run] for run in whole] == [[hit.position for hit in run] for run in single]
    for one, other in zip(whole, single, strict=True):
        assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-6)


@pytest.mark.parametrize("spec", ["dense:index=hnsw", "dense:index=ivf,effort=4", "dense:index=ivf,lists=10,effort=10"])
def test_approximate_indexes_say_what_they_miss(spec: str) -> None:
    """Recall against exact search is measured, repeatable, and 1 where every list is read."""
    space = SearchSpace([""] * 3000, _random(3000, seed=6))
    queries = QueryBatch([""] * 20, _random(20, seed=7))
    retriever = RETRIEVERS.create(spec)
    assert isinstance(retriever, Dense)
    recall = retriever.diagnostics(space, queries, depth=10)["recall_against_exact"]
    assert recall == retriever.diagnostics(space, queries, depth=10)["recall_against_exact"]
    assert recall == 1.0 if "lists=10" in spec else 0.2 < recall <= 1.0
    assert Dense().diagnostics(space, queries, depth=10) == {}


def test_dimensions_must_agree() -> None:
    """Chunks and queries of different models are an error that names both sizes."""
    with pytest.raises(UsageError, match="32 dimensions, queries 16"):
        Dense().search(
            SearchSpace(["a"], _random(1, seed=8)), QueryBatch(["a"], _random(1, seed=9, dimensions=16)), depth=1
        )


def test_words_of_code() -> None:
    """Identifiers are kept whole and split at underscores, capitals and digits."""
    assert code_words("getHTTPResponse_2(snake_case)") == [
        *["gethttpresponse_2", "get", "http", "response", "2"],
        *["snake_case", "snake", "case"],
    ]
    assert code_words("naïve größe_x 变量") == ["naïve", "na", "ï", "ve", "größe_x", "gr", "öß", "e", "x", "变量"]


def test_bm25_finds_split_identifiers() -> None:
    """A query in plain words finds camelCase; equal chunks tie by position; chunks without its words are no hits."""
    texts = ["def readFileLines(): pass", "class Server: ...", "def readFileLines(): pass", "", "\udc80 ?"]
    run = RETRIEVERS.create("bm25").search(SearchSpace(texts), QueryBatch(["read the file"]), depth=10)[0]
    assert [hit.position for hit in run] == [0, 2]
    assert run[0].score == run[1].score > 0


@pytest.mark.parametrize("b", [0.0, 0.6, 1.0])
def test_bm25_agrees_with_the_formula(b: float) -> None:
    """Scores are Lucene's BM25, computed here from its definition, at both ends of b too."""
    texts = ["a b b", "a c", "c c c d", "e"]
    words = [text.split() for text in texts]
    mean = sum(map(len, words)) / len(words)
    run = RETRIEVERS.create(f"bm25:k1=1.5,b={b}").search(SearchSpace(texts), QueryBatch(["b c"]), depth=10)[0]
    for hit in run:
        expected = 0.0
        for term in ("b", "c"):
            having = sum(term in row for row in words)
            idf = math.log(1 + (len(words) - having + 0.5) / (having + 0.5))
            count = words[hit.position].count(term)
            expected += idf * count / (count + 1.5 * (1 - b + b * len(words[hit.position]) / mean))
        assert hit.score == pytest.approx(expected, rel=1e-5)
    assert {hit.position for hit in run} == {0, 1, 2}


def test_rrf_by_hand() -> None:
    """A chunk's fused score is half of 1/(60 + rank) from each run that has it."""
    texts = ["parse token", "http server", "parse", "cache"]
    space, queries = _space(texts), _queries(["parse token cache"])
    runs = [RETRIEVERS.create(name).search(space, queries, depth=100)[0] for name in ("dense", "bm25")]
    expected: dict[int, float] = {}
    for run in runs:
        for rank, hit in enumerate(run, start=1):
            expected[hit.position] = expected.get(hit.position, 0) + 0.5 / (60 + rank)
    fused = Hybrid().search(space, queries, depth=4)[0]
    assert {hit.position: hit.score for hit in fused} == pytest.approx(expected)


@pytest.mark.parametrize(("weight", "name"), [(1.0, "dense"), (0.0, "bm25")])
def test_weight_at_its_ends_is_one_retriever(weight: float, name: str) -> None:
    """With all the weight on one side the weighted fusion puts the same chunk first."""
    texts = ["parse token", "http server", "parse", "cache"]
    space, queries = _space(texts), _queries(["parse token cache"])
    fused = Hybrid(fusion="weighted", weight=weight).search(space, queries, depth=1)[0]
    assert fused[0].position == RETRIEVERS.create(name).search(space, queries, depth=1)[0][0].position


def _greedy_in_plain_numbers(
    chunks: Vectors, query: np.ndarray, pool: list[int], sigma: float, count: int
) -> list[int]:
    """Dartboard from its definition: sum over targets of P(target | query) · best P(target | picked)."""

    def density(one: np.ndarray, two: np.ndarray) -> float:
        return math.exp(-(((1 - float(one.astype(float) @ two.astype(float))) / sigma) ** 2) / 2)

    picked = [pool[0]]
    while len(picked) < count:

        def value(extra: int) -> float:
            return sum(
                density(query, chunks[target]) * max(density(chunks[target], chunks[at]) for at in [*picked, extra])
                for target in pool
            )

        picked.append(max((at for at in pool if at not in picked), key=value))
    return picked


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
def test_dartboard_agrees_with_its_definition(sigma: float) -> None:
    """The log-space search picks what the plain formula picks."""
    chunks, asked = _random(25, seed=10, dimensions=8), _random(3, seed=11, dimensions=8)
    runs = Dartboard(sigma=sigma, pool=12).search(SearchSpace([""] * 25, chunks), QueryBatch([""] * 3, asked), depth=6)
    for query, run in zip(asked, runs, strict=True):
        pool = _reference(chunks, query, 12)
        assert [hit.position for hit in run] == _greedy_in_plain_numbers(chunks, query, pool, sigma, 6)


@pytest.mark.parametrize("retriever", [Dartboard(sigma=0.001), Dartboard(sigma=0.1), MMR(balance=0.5)])
def test_copies_come_after_what_is_new(retriever: Dartboard | MMR) -> None:
    """Of three copies of the best chunk only one is near the top, even where all densities vanish."""
    chunks = _unit(np.array([[1, 0.1, 0], [1, 0.1, 0], [1, 0.1, 0], [0.9, 0, 0.5], [0.8, 0.6, 0]]))
    asked = _unit(np.array([[1.0, 0.1, 0.05]]))
    run = retriever.search(SearchSpace([""] * 5, chunks), QueryBatch([""], asked), depth=5)[0]
    assert run[0].position == 0
    assert {hit.position for hit in run[1:3]} == {3, 4}


@pytest.mark.parametrize("retriever", [Dartboard(pool=7), MMR(pool=7, balance=0.2)])
def test_beyond_the_pool_the_order_is_dense(retriever: Dartboard | MMR) -> None:
    """The pool holds the same chunks as before, and what follows it is as dense search has it."""
    space = SearchSpace([""] * 40, _random(40, seed=14))
    queries = QueryBatch([""] * 5, _random(5, seed=15))
    for one, other in zip(
        retriever.search(space, queries, depth=30), Dense().search(space, queries, depth=30), strict=True
    ):
        new, old = [hit.position for hit in one], [hit.position for hit in other]
        assert set(new[:7]) == set(old[:7])
        assert new[7:] == old[7:]


def test_mmr_without_diversity_is_dense() -> None:
    """With balance 1 the order is that of dense search."""
    space = SearchSpace([""] * 50, _random(50, seed=12))
    queries = QueryBatch([""] * 5, _random(5, seed=13))
    for one, other in zip(
        MMR(balance=1.0).search(space, queries, depth=10), Dense().search(space, queries, depth=10), strict=True
    ):
        assert [hit.position for hit in one] == [hit.position for hit in other]


@pytest.mark.parametrize(
    "spec",
    [
        "mmr:balance=2",
        "dartboard:sigma=0",
        "hybrid:weight=-1",
        "hybrid:k=0",
        "bm25:b=3",
        "dense:effort=0",
        "dense:index=x",
    ],
)
def test_bad_parameters_are_usage_errors(spec: str) -> None:
    """A value that makes no sense is refused before any search."""
    with pytest.raises(UsageError):
        RETRIEVERS.create(spec)


@given(scores=st.lists(st.integers(0, 4), max_size=30), depth=st.integers(1, 35))
def test_tie_order_of_a_full_list(scores: list[int], depth: int) -> None:
    """Picking the best from a full list is sorting it by falling score, then rising position."""
    values = np.array(scores, dtype=np.float64)
    expected = [Hit(at, float(scores[at])) for at in sorted(range(len(scores)), key=lambda at: (-scores[at], at))]
    assert best_of_all(values, depth=depth).tolist() == [hit.position for hit in expected[:depth]]
    assert best(values, np.arange(len(scores)), depth=depth) == expected[:depth]
