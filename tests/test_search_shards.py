"""A search space in shards: what is found in them, joined, is what is found in one, to the last bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.bm25 import BM25
from indexing.code_words import code_words
from indexing.composed import Composed, vectors_in
from indexing.dense import Dense
from indexing.diversity import MMR, Dartboard
from indexing.encoders.hashing import Hashing
from indexing.found import Found
from indexing.frequencies import Frequencies, frequencies_of, total
from indexing.hybrid import Hybrid
from indexing.postings import posting_shard
from indexing.types import Hit, QueryBatch, SearchSpace, Vectors
from indexing.word_counts import WordCounter, WordCounts, join_counts

RETRIEVERS: tuple[Composed, ...] = (BM25(), Dense(), Hybrid(pool=5), MMR(pool=6), Dartboard(pool=6))
WORDS = st.sampled_from("get set HTTPServer parse_tree x1 return self data Über 数据 +".split())
TEXTS = st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=40)


def sharded(
    retriever: Composed, space: SearchSpace, queries: QueryBatch, *, depth: int, cuts: list[int]
) -> list[list[Hit]]:
    """Search the space in shards that end at the cuts, as an experiment does."""
    edges = sorted({0, len(space.texts), *(cut % (len(space.texts) + 1) for cut in cuts)})
    words = tuple(dict.fromkeys(word for text in queries.texts for word in code_words(text)))
    shards = [part_of(space, start, end) for start, end in pairwise(edges)]
    parts = [frequencies_of(WordCounter().count(shard.texts), words) for _, shard in shards]
    frequencies = total(parts, words)
    vectors_of = vectors_in(space.vectors)
    joined = []
    for search in retriever.searches:
        found = []
        for start, shard in shards:
            one = search.prepare_shard(shard, frequencies).find(queries, depth=retriever.reach(depth))
            found.append(Found(np.where(one.positions >= 0, one.positions + start, -1), one.scores))
        joined.append(search.join(found, queries, vectors_of, depth=retriever.reach(depth)))
    return retriever.combine(joined, vectors_of, depth=depth)


def part_of(space: SearchSpace, start: int, end: int) -> tuple[int, SearchSpace]:
    """Return where a part begins, and the part."""
    vectors = None if space.vectors is None else space.vectors[start:end]
    return start, SearchSpace(space.texts[start:end], vectors)


@pytest.mark.parametrize("retriever", RETRIEVERS, ids=lambda each: type(each).__name__)
@settings(max_examples=25, deadline=None)
@given(
    texts=TEXTS,
    asked=st.lists(st.lists(WORDS, max_size=4).map(" ".join), min_size=1, max_size=4),
    depth=st.integers(1, 50),
    cuts=st.lists(st.integers(0, 60), max_size=7),
)
def test_shards_find_what_the_whole_space_finds(
    retriever: Composed, texts: list[str], asked: list[str], depth: int, cuts: list[int]
) -> None:
    """Equal texts tie across shards, at the last place too; positions and scores are those of one shard."""
    space = SearchSpace(texts, Hashing().encode(texts, kind="document"))
    queries = QueryBatch(asked, Hashing().encode(asked, kind="query"))
    whole = retriever.search(space, queries, depth=depth)
    assert sharded(retriever, space, queries, depth=depth, cuts=cuts) == whole


def clustered(count: int, *, seed: int) -> Vectors:
    """Return vectors of which many are equal or differ in the last bit alone."""
    draw = np.random.default_rng(seed)
    rows = np.repeat(draw.normal(size=(count // 8 + 1, 48)), 8, axis=0)[:count]
    rows = np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
    rows[::3] = np.nextafter(rows[::3], np.float32(1))
    return rows


@pytest.mark.parametrize("shards", [2, 7, 30])
@pytest.mark.parametrize("queries", [3, 40])
@pytest.mark.parametrize("depth", [1, 10, 57, 600])
def test_near_ties_are_in_one_order_whatever_the_shards(shards: int, queries: int, depth: int) -> None:
    """Scores that float32 cannot tell apart, by both of FAISS's ways to search."""
    chunks, asked = clustered(600, seed=1), clustered(queries * 8, seed=2)[::8]
    space = SearchSpace([""] * len(chunks), chunks)
    batch = QueryBatch([""] * len(asked), asked)
    cuts = [len(chunks) * number // shards for number in range(shards)]
    whole = Dense().search(space, batch, depth=depth)
    assert sharded(Dense(), space, batch, depth=depth, cuts=cuts) == whole
    exact = chunks.astype(np.float64) @ asked.astype(np.float64).T
    for run, scores in zip(whole, exact.T, strict=True):
        order = sorted(range(len(chunks)), key=lambda at: (-round(scores[at], 14), at))
        assert [hit.position for hit in run] == order[:depth]


@settings(deadline=None)
@given(texts=TEXTS, cuts=st.lists(st.integers(0, 40), max_size=5))
def test_words_counted_in_parts_are_those_of_all(texts: list[str], cuts: list[int]) -> None:
    """Joined or written and read, the counts and frequencies of parts are those of the whole."""
    edges = sorted({0, len(texts), *(min(cut, len(texts)) for cut in cuts)})
    parts = [WordCounter().count(texts[start:end]) for start, end in pairwise(edges)]
    whole = WordCounter().count(texts)
    read = [WordCounts.from_bytes(part.to_bytes()) for part in parts]
    for joined in (join_counts(parts), join_counts(read)):
        assert same_counts(joined, whole)
    words = whole.vocabulary
    one, many = frequencies_of(whole), total((frequencies_of(part, words) for part in parts), words)
    assert all(np.array_equal(getattr(one, name), getattr(many, name)) for name in Frequencies._fields)
    assert one.nbytes == BM25().prepare(SearchSpace(texts)).bytes


def same_counts(one: WordCounts, other: WordCounts) -> bool:
    """Return whether both hold the same words, numbered alike, in the same texts."""
    shards = posting_shard(one), posting_shard(other)
    columns = ("lengths", "starts", "places", "values")
    return list(shards[0].numbers) == list(shards[1].numbers) and all(
        np.array_equal(getattr(shards[0], name), getattr(shards[1], name)) for name in columns
    )


def test_a_record_holds_large_numbers() -> None:
    """A word that is in a text 70,000 times, and 300 words."""
    counts = WordCounter().count(["many " * 70_000, " ".join(f"w{number}" for number in range(300)), ""])
    assert same_counts(WordCounts.from_bytes(counts.to_bytes()), counts)
    assert counts.lengths.tolist() == [70_000, 900, 0]
