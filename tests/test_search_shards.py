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
from indexing.frequencies import frequencies_of, total
from indexing.hybrid import Hybrid
from indexing.postings import posting_shard
from indexing.types import Hit, QueryBatch, SearchSpace, Vectors
from indexing.word_columns import asked_words, to_record
from indexing.word_counts import WordCounter
from indexing.word_names import WordNames, bytes_of

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
    names = WordNames()
    parts = [asked_words([to_record(WordCounter().count(shard.texts), names)], words, names) for _, shard in shards]
    frequencies = total((part.frequencies for part in parts), words)
    vectors_of = vectors_in(space.vectors)
    joined = []
    for search in retriever.searches:
        found = []
        for start, shard in shards:
            one = search.prepare_shard(shard, frequencies).find(queries, depth=retriever.reach(depth))
            found.append(Found(np.where(one.positions >= 0, one.positions + start, -1), one.scores))
        joined.append(search.join(found, queries, vectors_of, depth=retriever.reach(depth)))
    return retriever.combine(joined, vectors_of, depth=depth).hits()


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
    drawn = np.repeat(draw.normal(size=(count // 8 + 1, 48)), 8, axis=0)[:count]
    rows: Vectors = np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)
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
@given(
    texts=TEXTS,
    cuts=st.lists(st.integers(0, 40), max_size=5),
    more=st.lists(st.sampled_from(["get", "absent", "数据", "https"]), max_size=3, unique=True),
)
def test_words_kept_in_records_are_those_of_all_texts(texts: list[str], cuts: list[int], more: list[str]) -> None:
    """However texts are divided into records, the texts and counts of every word that is asked for are the same."""
    edges = sorted({0, len(texts), *(min(cut, len(texts)) for cut in cuts)})
    names = WordNames()
    records = [to_record(WordCounter().count(texts[start:end]), names) for start, end in pairwise(edges)]
    whole = WordCounter().count(texts)
    words = list(dict.fromkeys([*reversed(whole.vocabulary), *more]))
    found, expected = asked_words(records, words, WordNames()), posting_shard(whole).only(words)
    assert list(found.shard.numbers) == words
    for name in ("lengths", "starts", "places", "values"):
        assert np.array_equal(getattr(found.shard, name), getattr(expected, name))
    one = frequencies_of(whole)
    held = dict(zip(one.words, one.holding.tolist(), strict=True))
    assert dict(zip(words, found.frequencies.holding.tolist(), strict=True)) == {w: held.get(w, 0) for w in words}
    for name in ("texts", "length", "pairs", "nbytes"):
        assert getattr(found.frequencies, name) == getattr(one, name)
    assert one.nbytes == BM25().prepare(SearchSpace(texts)).bytes


def test_a_record_holds_large_numbers() -> None:
    """A word that is in a text 70,000 times, 300 words, and a text without any."""
    counts = WordCounter().count(["many " * 70_000, " ".join(f"w{number}" for number in range(300)), ""])
    found = asked_words([to_record(counts, WordNames())], ["w299", "many", "none"], WordNames()).shard
    assert found.lengths.tolist() == counts.lengths.tolist() == [70_000, 900, 0]
    assert (found.starts.tolist(), found.places.tolist(), found.values.tolist()) == ([0, 1, 2, 2], [1, 0], [1, 70_000])


def test_a_word_has_the_same_name_everywhere() -> None:
    """Different words have different names, the last byte of which is their length; none for nothing."""
    words = ["a", "b", "ab", "über", "数据", "x" * 300]
    names = WordNames()
    found = names.of(words)
    assert np.array_equal(found, WordNames().of(words))
    assert np.array_equal(names.of(words[::-1]), found[::-1])
    assert len(set(found.tolist())) == len(words)
    assert [bytes_of(found[place : place + 1]) for place in range(len(words))] == [1, 1, 2, 5, 6, 255]
    assert bytes_of(found) == 270
    assert len(names.of([])) == 0


def test_nothing_is_asked_of_nothing() -> None:
    """No record, no word, neither."""
    record = to_record(WordCounter().count(["get set"]), WordNames())
    for records, words in (([], ["get"]), ([record], []), ([], [])):
        shard, frequencies = asked_words(records, words, WordNames())
        assert (len(shard.lengths), shard.starts.tolist()) == (len(records), [0] * (len(words) + 1))
        assert (frequencies.texts, frequencies.holding.tolist()) == (len(records), [0] * len(words))
