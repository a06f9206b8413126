"""Postings: the scores of bm25s on the same words, whatever the number of shards and wherever they lie."""

from __future__ import annotations

import bm25s
import numpy as np
import pytest
from bm25s.tokenization import Tokenized
from hypothesis import given
from hypothesis import strategies as st

from indexing import postings
from indexing.bm25 import BM25
from indexing.code_words import code_words
from indexing.encoders.hashing import Hashing
from indexing.registry import RETRIEVERS
from indexing.types import QueryBatch, SearchSpace

WORDS = st.sampled_from("get set HTTPServer parse_tree parseTree x1 x2 return self data data2 Über 数据 _ +".split())
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=30)


@pytest.fixture(params=[1, 2, 7])
def shards(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Divide 140 texts into so many shards, those beyond the first on disk."""
    monkeypatch.setattr(postings, "SHARD", 140 // request.param)
    monkeypatch.setattr(postings, "LARGEST_IN_MEMORY", 2_000)
    count: int = request.param
    return count


def texts_of(count: int) -> list[str]:
    """Return texts of which many are equal or share all words, so that scores tie across shards."""
    draw = np.random.default_rng(7)
    names = ["parse_tree", "HTTPServer", "getItem", "return", "self", "data", "x", "y", "λ"]
    return [" ".join(draw.choice(names[: 3 + place % 7], size=1 + place % 9)) for place in range(count)]


def bare(texts: list[str], *, k1: float, b: float) -> bm25s.BM25:
    """Return bm25s' own index of the same words."""
    vocabulary: dict[str, int] = {}
    ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in code_words(text)] for text in texts]
    index = bm25s.BM25(method="lucene", k1=k1, b=b, csc_backend="scipy")
    index.index(Tokenized(ids=ids, vocab=vocabulary), show_progress=False, create_empty_token=False)
    return index


@given(TEXTS.filter(lambda texts: any(map(code_words, texts))), st.floats(0.1, 3), st.floats(0, 1))
def test_one_shard_is_the_index_of_bm25s(texts: list[str], k1: float, b: float) -> None:
    """Every posting and every bit of every score."""
    (ours,) = postings.build_postings(texts, k1=k1, b=b).shards
    theirs = bare(texts, k1=k1, b=b).scores
    assert np.array_equal(ours.starts, theirs["indptr"])
    assert np.array_equal(ours.places, theirs["indices"])
    assert np.array_equal(ours.values, theirs["data"])
    assert ours.values.dtype == theirs["data"].dtype


def test_the_number_of_shards_changes_no_score(shards: int) -> None:
    """Document frequencies and lengths are those of all texts; what lies on disk is the same."""
    texts = texts_of(140)
    whole = bare(texts, k1=1.2, b=0.75)
    made = postings.build_postings(iter(texts), k1=1.2, b=0.75)
    assert [len(shard.lengths) for shard in made.shards] == [140 // shards] * shards
    assert any(isinstance(shard.values, np.memmap) for shard in made.shards)
    for query in ("parse tree", "data data x", "λ self HTTPServer return getItem", "nowhere"):
        words = code_words(query)
        split = np.concatenate([shard.scores(words) for shard in made.shards])
        known = [whole.vocab_dict[word] for word in words if word in whole.vocab_dict]
        assert np.array_equal(split, whole.get_scores_from_ids(known))


@pytest.mark.usefixtures("shards")
@pytest.mark.parametrize("spec", ["bm25", "bm25:k1=0.9,b=0.4", "hybrid", "hybrid:fusion=weighted"])
def test_the_number_of_shards_changes_no_rank(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every retriever that asks for words, ranks, scores and ties are those of one shard."""
    texts = texts_of(140)
    queries = ["parse tree", "data x", "self HTTPServer λ", "nowhere"]
    encoder = Hashing()
    space = SearchSpace(texts, encoder.encode(texts, kind="document"))
    batch = QueryBatch(queries, encoder.encode(queries, kind="query"))
    retriever = RETRIEVERS.create(spec)
    split = {depth: retriever.search(space, batch, depth=depth) for depth in (1, 5, 60, 200)}
    monkeypatch.setattr(postings, "SHARD", 10_000)
    assert split == {depth: retriever.search(space, batch, depth=depth) for depth in split}


def test_texts_without_words_are_found_by_nothing() -> None:
    """No texts, no words, words in one shard only, words that only a later shard has."""
    assert BM25().search(SearchSpace([]), QueryBatch(["a"]), depth=3) == [[]]
    assert BM25().search(SearchSpace(["", "++", " "]), QueryBatch(["a", ""]), depth=3) == [[], []]


def test_words_that_only_a_later_shard_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier shard, whose vocabulary was smaller, does not hold them."""
    monkeypatch.setattr(postings, "SHARD", 2)
    found = BM25().search(SearchSpace(["a", "", "b", "a b"]), QueryBatch(["b", "a"]), depth=3)
    assert [[hit.position for hit in run] for run in found] == [[2, 3], [0, 3]]
