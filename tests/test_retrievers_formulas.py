"""What retrievers compute, from their definitions: fused, diverse and lexical rankings, number by number."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing import postings
from indexing.bm25 import BM25, WordSearch
from indexing.composed import vectors_in
from indexing.diversity import MMR, Dartboard
from indexing.found import Found
from indexing.frequencies import Frequencies, frequencies_of, total
from indexing.hybrid import Hybrid
from indexing.types import Hit, QueryBatch, SearchSpace, Vectors
from indexing.word_columns import AskedWords, asked_words, to_record
from indexing.word_counts import WordCounter, WordCounts
from indexing.word_names import WordNames

NO_VECTORS = vectors_in(None)


def table(*rows: list[tuple[int, float]]) -> Found:
    """Return a table of these hits, filled up with what is none."""
    wide = max(map(len, rows))
    filled = [[*row, *[(-1, 0.0)] * (wide - len(row))] for row in rows]
    return Found(
        np.array([[hit[0] for hit in row] for row in filled], dtype=np.int64).reshape(len(rows), wide),
        np.array([[hit[1] for hit in row] for row in filled], dtype=np.float64).reshape(len(rows), wide),
    )


DENSE = [(4, 0.9), (2, 0.5), (7, 0.1)]
LEXICAL = [(2, 30.0), (9, 20.0), (4, 14.0), (1, 10.0)]


def by_hand(values: list[dict[int, float]], weight: float) -> list[Hit]:
    """Return the weighted sums of both sides, best first, ties by position."""
    dense, lexical = values
    sums = {at: weight * dense.get(at, 0.0) + (1 - weight) * lexical.get(at, 0.0) for at in {*dense, *lexical}}
    return [Hit(at, sums[at]) for at in sorted(sums, key=lambda at: (-round(sums[at], 12), at))]


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 60])
def test_reciprocal_ranks_are_fused_with_their_weights(weight: float, k: int) -> None:
    """A chunk has its weight over k plus its rank from each run that holds it; runs of nothing too."""
    ranks = [{hit[0]: 1 / (k + rank) for rank, hit in enumerate(run, start=1)} for run in (DENSE, LEXICAL)]
    found = [table(DENSE, DENSE, []), table(LEXICAL, [], [])]
    runs = Hybrid(k=k, weight=weight).combine(found, NO_VECTORS, depth=9).hits()
    for run, expected in zip(runs, [by_hand(ranks, weight), by_hand([ranks[0], {}], weight), []], strict=True):
        assert [hit.position for hit in run] == [hit.position for hit in expected]
        assert [hit.score for hit in run] == pytest.approx([hit.score for hit in expected])
    assert Hybrid(k=k, weight=weight).combine(found, NO_VECTORS, depth=2).hits()[0] == runs[0][:2]


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
def test_weighted_scores_go_from_0_to_1_in_each_run(weight: float) -> None:
    """The last of a run has 0, the first 1; where all are equal, or there is one, it has 1."""
    values = [{4: 1.0, 2: 0.5, 7: 0.0}, {2: 1.0, 9: 0.5, 4: 0.2, 1: 0.0}]
    same = [(3, 5.0), (8, 5.0)]
    found = [table(DENSE, same, DENSE[:1]), table(LEXICAL, LEXICAL, [])]
    runs = Hybrid(fusion="weighted", weight=weight).combine(found, NO_VECTORS, depth=9).hits()
    wanted = [
        by_hand(values, weight),
        by_hand([{3: 1.0, 8: 1.0}, values[1]], weight),
        by_hand([{4: 1.0}, {}], weight),
    ]
    for run, expected in zip(runs, wanted, strict=True):
        assert [hit.position for hit in run] == [hit.position for hit in expected]
        assert [hit.score for hit in run] == pytest.approx([hit.score for hit in expected])


def test_a_pool_is_the_least_that_is_looked_at() -> None:
    """A deeper ranking looks further."""
    for retriever in (Hybrid(pool=10), MMR(pool=10), Dartboard(pool=10)):
        assert [retriever.reach(depth) for depth in (1, 9, 10, 11)] == [10, 10, 10, 11]
    assert [BM25().reach(depth) for depth in (1, 9)] == [1, 9]


def test_parameters_at_their_bounds() -> None:
    """0 and 1 mean something, what is beyond them does not."""
    for value in (0.0, 1.0):
        assert (MMR(balance=value).balance, Hybrid(weight=value).weight, BM25(b=value).b) == (value,) * 3
    for value in (-0.01, 1.01):
        for make in (
            lambda value=value: MMR(balance=value),
            lambda value=value: Hybrid(weight=value),
            lambda value=value: BM25(b=value),
            lambda value=value: Hybrid(b=value),
        ):
            with pytest.raises(UsageError, match="must be between 0 and 1"):
                make()


def unit(rows: np.ndarray) -> Vectors:
    """Return rows of length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def plain_mmr(chunks: Vectors, pool: list[tuple[int, float]], balance: float, count: int) -> list[int]:
    """Maximal marginal relevance from its definition; the first of equal values."""
    picked: list[int] = []
    left = list(pool)
    for _ in range(count):

        def value(hit: tuple[int, float]) -> float:
            near = [float(chunks[hit[0]].astype(float) @ chunks[at].astype(float)) for at in picked]
            return round(balance * hit[1] - (1 - balance) * max(near, default=-1.0), 12)

        chosen = max(left, key=value)
        left.remove(chosen)
        picked.append(chosen[0])
    return picked


@pytest.mark.parametrize("balance", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize(("pool", "depth"), [(1, 3), (6, 4), (6, 6), (6, 9), (50, 20)])
def test_marginal_relevance_agrees_with_its_definition(balance: float, pool: int, depth: int) -> None:
    """Each pick weighs relevance against the nearest that was picked; behind the pool, relevance alone decides."""
    chunks = unit(np.random.default_rng(1).normal(size=(20, 4)))
    chunks[11] = chunks[3]
    query = unit(np.random.default_rng(2).normal(size=(1, 4)))
    scores = (chunks.astype(float) @ query[0].astype(float)).tolist()
    order = sorted(range(20), key=lambda at: (-round(scores[at], 12), at))
    found = table([(at, scores[at]) for at in order])
    (run,) = MMR(balance=balance, pool=pool).combine([found], chunks.__getitem__, depth=depth).hits()
    inside = plain_mmr(chunks, [(at, scores[at]) for at in order[:pool]], balance, min(depth, pool, 20))
    assert [hit.position for hit in run] == [*inside, *order[pool:]][:depth]
    assert [hit.score for hit in run] == pytest.approx([1 / rank for rank in range(1, len(run) + 1)])


def plain_dartboard(chunks: Vectors, query: np.ndarray, pool: list[int], sigma: float, count: int) -> list[int]:
    """Relevant information gain from its definition, as sums of densities."""
    rows = chunks[pool].astype(float)
    to_query = np.exp(-(((1 - rows @ query.astype(float)) / sigma) ** 2) / 2)
    between = np.exp(-(((1 - rows @ rows.T) / sigma) ** 2) / 2)
    picked = [0]
    while len(picked) < count:
        left = [at for at in range(len(pool)) if at not in picked]
        nearest = between[picked].max(axis=0)
        gains = [float((to_query * np.maximum(between[at] - nearest, 0)).sum()) for at in left]
        logs = [round(math.log(gain), 9) if gain else -math.inf for gain in gains]
        picked.append(left[logs.index(max(logs))])
    return [pool[at] for at in picked]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.15, 0.3, 0.6, 1.5]), st.integers(1, 14), st.integers(1, 14))
def test_information_gain_agrees_with_its_definition(seed: int, sigma: float, size: int, depth: int) -> None:
    """Old gains are bounds only: every pick is the one that the definition picks, to the last of the pool."""
    random = np.random.default_rng(seed)
    chunks = unit(random.normal(size=(size, 5)))
    query = unit(random.normal(size=(1, 5)))[0]
    scores = (chunks.astype(float) @ query.astype(float)).tolist()
    order = sorted(range(size), key=lambda at: (-scores[at], at))
    found = table([(at, scores[at]) for at in order])
    (run,) = Dartboard(sigma=sigma, pool=12).combine([found], chunks.__getitem__, depth=depth).hits()
    inside = plain_dartboard(chunks, query, order[:12], sigma, min(depth, size, 12))
    assert [hit.position for hit in run] == [*inside, *order[12:]][:depth]


def test_candidates_that_add_nothing_come_last_in_their_order() -> None:
    """Copies of what was picked; and no hits have no ranking."""
    chunks = unit(np.array([[1, 0], [1, 0], [0.6, 0.8], [1, 0]]))
    found = table([(0, 1.0), (1, 1.0), (3, 1.0), (2, 0.6)], [])
    for retriever in (Dartboard(sigma=0.3), MMR(balance=0.3)):
        first, none = retriever.combine([found], chunks.__getitem__, depth=9).hits()
        assert [hit.position for hit in first] == [0, 2, 1, 3]
        assert none == []


TEXTS = ["get path get", "set", "", "path http get http http", "get_path"]


def asked_of(texts: Sequence[str], words: Sequence[str]) -> AskedWords:
    """Return what texts, kept as one record, hold of these words."""
    return asked_words([to_record(WordCounter().count(texts), WordNames())], words, WordNames())


def test_frequencies_are_counted() -> None:
    """How many texts hold a word, how many words there are, and what an index of them takes."""
    words = ["get", "nowhere", "http", "path"]
    found = asked_of(TEXTS, words).frequencies
    assert found.words == tuple(words)
    assert found.holding.tolist() == [3, 0, 1, 3]
    assert (found.texts, found.length, found.mean) == (5, 3 + 1 + 5 + 3, 12 / 5)
    assert found.pairs == 2 + 1 + 3 + 3
    held = ["get", "path", "set", "http", "get_path"]
    assert len(found.vocabulary) == len(held)
    assert found.nbytes == sum(map(len, held)) + 8 * (len(held) + 1) + 8 * found.pairs
    expected = [math.log(1 + (5 - holding + 0.5) / (holding + 0.5)) for holding in (3, 0, 1, 3)]
    assert found.weights() == pytest.approx(expected, rel=1e-6)
    assert found.weights().dtype == np.float32


def test_frequencies_of_parts_add_up() -> None:
    """A word that several parts hold is one word; no parts are no texts, whose mean length is 0."""
    words = ("get", "path")
    parts = [asked_of([text], words).frequencies for text in TEXTS]
    both, whole = total(parts, words), asked_of(TEXTS, words).frequencies
    assert all(np.array_equal(getattr(both, name), getattr(whole, name)) for name in Frequencies._fields)
    none = total([], words)
    assert (none.holding.tolist(), none.texts, none.mean, none.nbytes) == ([0, 0], 0, 0.0, 8)


@pytest.mark.parametrize("largest", [255, 256, 65_535, 65_536])
def test_counts_are_written_in_as_few_bytes_as_they_need(largest: int) -> None:
    """One, two or four: what is read is what was written, at the bounds of each."""
    lengths = np.array([largest, 0, 1])
    made = WordCounts(["a", "b"], lengths, np.array([1, 1, 2]), np.array([0, 1]), np.array([largest, 1]))
    record = to_record(made, WordNames())
    shard = asked_words([record], ["b", "a"], WordNames()).shard
    assert np.array_equal(shard.lengths, lengths)
    assert (shard.starts.tolist(), shard.places.tolist(), shard.values.tolist()) == ([0, 1, 2], [2, 0], [1, largest])
    wide = 1 if largest < 2**8 else 2 if largest < 2**16 else 4
    assert len(record) == 16 + 2 * 8 + 3 * wide + 2 + 2 + 2 * wide
    assert len(asked_of([], ["a"]).shard.lengths) == 0


def test_one_word_is_counted_in_each_of_its_texts() -> None:
    """However small a vocabulary is."""
    counts = WordCounter().count(["x", "", "x x", "x"])
    assert list(counts.vocabulary) == ["x"]
    assert (counts.lengths.tolist(), counts.ends.tolist()) == ([1, 0, 2, 1], [1, 1, 2, 3])
    assert counts.counts.tolist() == [1, 2, 1]
    assert frequencies_of(counts).holding.tolist() == [3]


@pytest.mark.parametrize(("spare", "mapped"), [(0, 0), (-1, 1)])
def test_postings_beyond_the_bound_are_files(spare: int, mapped: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the byte; what comes first stays in memory."""
    monkeypatch.setattr(postings, "SHARD", 2)
    texts = ["a b", "c", "a", "d e"]
    shards = postings.build_postings(texts, k1=1.2, b=0.75).shards
    size = sum(shard.starts.nbytes + shard.places.nbytes + shard.values.nbytes for shard in shards)
    monkeypatch.setattr(postings, "LARGEST_IN_MEMORY", size + spare)
    again = postings.build_postings(texts, k1=1.2, b=0.75).shards
    assert [isinstance(shard.values, np.memmap) for shard in again] == [False, bool(mapped)]
    assert [isinstance(shard.places, np.memmap) for shard in again] == [False, bool(mapped)]
    for one, other in zip(shards, again, strict=True):
        assert np.array_equal(one.values, other.values)
    monkeypatch.setattr(postings, "LARGEST_IN_MEMORY", 0)
    assert len(postings.build_postings(["", "+"], k1=1.2, b=0.75).shards[0].values) == 0


def test_a_part_of_a_space_needs_the_frequencies_of_the_whole() -> None:
    """Its words may be counted already; the size of an index is that of the whole space."""
    search = WordSearch(k1=1.2, b=0.75)
    with pytest.raises(ValueError, match="frequencies of the whole"):
        search.prepare_shard(SearchSpace(TEXTS), None)
    counts = WordCounter().count(TEXTS)
    words, frequencies = asked_of(TEXTS, ["get", "http"])
    queries = QueryBatch(["get http", "http", "nowhere"])
    plain = search.prepare_shard(SearchSpace(TEXTS), frequencies)
    counted = search.prepare_shard(SearchSpace(["?"] * len(TEXTS), words=words), frequencies)
    whole = BM25().search(SearchSpace(TEXTS), queries, depth=3)
    assert plain.find(queries, depth=3).hits() == counted.find(queries, depth=3).hits() == whole
    assert plain.bytes == 0
    assert BM25().prepare(SearchSpace(TEXTS)).bytes == frequencies_of(counts).nbytes
