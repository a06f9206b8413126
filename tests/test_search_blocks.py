"""The work of a search in tasks: what is timed and for how long, parts of texts, blocks of files and their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import Clock, Elsewhere, repository, session_of, word_dataset
from test_search_joined import LINES, costing, joined, parts_of, uneven

from chunkers.sizes import ruler
from evaluation.experiment import search_cost, stages
from evaluation.experiment.blocks import Division
from evaluation.experiment.header_cost import header_tokens
from evaluation.experiment.part_search import Search, add_cost, search_part
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_scores
from evaluation.experiment.search_cost import time_alone, timed_queries
from evaluation.experiment.searched_part import PartCost, SearchedPart
from evaluation.experiment.searching import _remembering, query_embedding_timed
from evaluation.experiment.session import Session
from evaluation.experiment.visible_chunks import searchable_rows
from ground_truth.types import Dataset, HiddenSpan, Query
from indexing.dense import Dense
from indexing.encoders.hashing import Hashing
from indexing.types import Vectors


@pytest.mark.parametrize(
    ("count", "step"), [(0, 1), (1, 1), (99, 1), (100, 1), (101, 2), (200, 2), (201, 3), (10_001, 101)]
)
def test_at_most_a_hundred_queries_are_timed(count: int, step: int) -> None:
    """Evenly over all of them."""
    assert list(timed_queries(count)) == list(range(0, count, step))


def test_slow_queries_are_timed_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that reaches the limit is not the last, the one that passes it is; nothing is timed after that."""
    clock = Clock()
    monkeypatch.setattr(search_cost, "time", clock)

    def ask(place: int) -> None:
        clock.now += place

    assert time_alone(ask, [1, 2, 3, 4, 5], most_seconds=3) == {1: 1, 2: 2, 3: 3}
    assert time_alone(ask, [1, 2, 3, 4, 5], most_seconds=2.5) == {1: 1, 2: 2}
    assert time_alone(ask, [], most_seconds=3) == {}
    assert time_alone(ask, [4, 5], most_seconds=-1.0) == {}


def test_headers_cost_their_tokens_and_a_line_feed() -> None:
    """None where there is none, and each text is counted as often as it occurs."""
    data = b"def make(size):\n"
    cost = ruler(data, "tokens").count(0, len(data))
    assert header_tokens(["", "def make(size):", "", "def make(size):"]).tolist() == [0, cost, 0, cost]
    assert header_tokens([]).tolist() == []


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [((4, 1, 99), [3] * 4), ((4, 5, 99), [5, 5, 2]), ((1, 1, 5), [5, 5, 2]), ((1, 1, 12), [12]), ((5, 1, 99), [2] * 6)],
)
def test_texts_are_embedded_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bounds: tuple[int, int, int], expected: list[int]
) -> None:
    """The queries first, then chunks in order: so many parts, within a least and a most."""
    for name, bound in zip(("_PARTS", "_SMALLEST_PART", "_LARGEST_PART"), bounds, strict=True):
        monkeypatch.setattr(stages, name, bound)
    session = session_of(word_dataset(), tmp_path, retrievers=("dense",))
    queries, *chunks = stages.embedding_parts(session, "words", LINES, "hashing")
    assert (queries.rows, queries.texts) == (None, 6)
    assert [part.texts for part in chunks] == expected
    assert [row for part in chunks for row in part.rows or ()] == list(range(12))
    assert all(part.texts == len(part.rows or ()) for part in chunks)


def test_blocks_of_a_search_are_of_rows_and_only_where_it_can_be_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every block knows how many there are; what is found in one of several is kept until they are joined."""
    monkeypatch.setattr(stages, "ROWS", Division(3, 1, 10**9))
    session = session_of(word_dataset(), tmp_path, retrievers=("bm25", "dense:index=hnsw"))
    split, whole = session.cells
    blocks = stages.search_blocks(session, split)
    assert [(block.files, block.of) for block in blocks] == [(range(2), 3), (range(2, 4), 3), (range(4, 6), 3)]
    assert [(block.files, block.of) for block in stages.search_blocks(session, whole)] == [(range(6), 1)]
    folder = session.store.root / "search"
    stages.search_block(session, stages.SearchBlock(split, range(6), 1))
    assert not list(folder.glob("[!.]*"))
    stages.search_block(session, stages.SearchBlock(split, range(2), 2))
    stages.search_block(session, blocks[1])
    assert len(list(folder.glob("[!.]*"))) == 2
    assert len(stages.retrieve(session, split, blocks=blocks).ranking) == 6
    assert list(folder.glob("[!.]*")) == []
    stages.retrieve(session, whole)
    assert not list(folder.glob("[!.]*"))


def test_parts_of_a_search_share_the_time_for_asking_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five seconds for all of them."""
    given_: list[float] = []
    plain = search_part

    def noted(*arguments: Any, most_seconds: float, **named: Any) -> SearchedPart:
        given_.append(most_seconds)
        return plain(*arguments, most_seconds=most_seconds, **named)

    monkeypatch.setattr(stages, "search_part", noted)
    session = session_of(word_dataset(), tmp_path)
    (cell,) = session.cells
    for of in (1, 4):
        stages.search_block(session, stages.SearchBlock(cell, range(6), of))
    assert given_ == [5.0, 1.25]


def words_counted(session: Session) -> Iterator[int]:
    """Yield the texts that hold each word that is asked, from the store."""
    for known in stages.words(session, "words", LINES).values():
        yield from known.frequencies.holding.tolist()


def test_words_of_blocks_are_those_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted by others in blocks of one file, or here at once: the same frequencies and the same bytes."""
    monkeypatch.setattr(stages, "ROWS", Division(3, 1, 10**9))
    here = session_of(uneven(), tmp_path / "here")
    expected = stages.words(here, "words", LINES)
    monkeypatch.setattr("evaluation.experiment.blocks.SOURCE", Division(64, 1, 1))
    there = session_of(uneven(), tmp_path / "there")
    make_scores(there, there.cells, Elsewhere(), Progress())
    assert there.store.has(there.words_key("words", LINES))
    found = stages.words(there, "words", LINES)
    assert {space: each.nbytes for space, each in found.items()} == {
        space: each.nbytes for space, each in expected.items()
    }
    assert list(words_counted(there)) == list(words_counted(here))
    assert len(there.file_words.packs.entries()) == 1
    for space, each in found.items():
        assert each.frequencies.words == expected[space].frequencies.words
        assert each.frequencies[2:5] == expected[space].frequencies[2:5]


costs = st.builds(
    PartCost,
    embed_seconds=st.integers(0, 9),
    retrieve_seconds=st.integers(0, 9),
    index_seconds=st.none() | st.integers(0, 9),
    index_bytes=st.integers(0, 9),
    query_seconds=st.dictionaries(st.integers(0, 3), st.integers(0, 9)),
    texts_read=st.integers(0, 9),
    texts_beyond=st.integers(0, 9),
    tokens_read=st.integers(0, 9),
    tokens_beyond=st.integers(0, 9),
    diagnostics=st.dictionaries(st.sampled_from("ab"), st.lists(st.integers(0, 9), min_size=1)),
)


@given(st.lists(costs, max_size=4))
def test_costs_of_parts_add_up(parts: list[PartCost]) -> None:
    """Number by number and query by query; what one part does not know is not known of the whole."""
    whole = PartCost()
    for part in parts:
        add_cost(whole, part)
    summed = ("embed_seconds", "retrieve_seconds", "index_bytes")
    for name in (*summed, "texts_read", "texts_beyond", "tokens_read", "tokens_beyond"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)
    unknown = any(part.index_seconds is None for part in parts)
    assert whole.index_seconds == (None if unknown else sum(part.index_seconds or 0 for part in parts))
    places = {place for part in parts for place in part.query_seconds}
    assert whole.query_seconds == {place: sum(part.query_seconds.get(place, 0) for part in parts) for place in places}
    names = {name for part in parts for name in part.diagnostics}
    assert whole.diagnostics == {
        name: [value for part in parts for value in part.diagnostics.get(name, [])] for name in names
    }


def test_what_was_looked_up_together_is_remembered_alone() -> None:
    """Rows that are part of an earlier question are answered from memory, others, below or above, are looked up."""
    asked: list[list[int]] = []

    def vectors_of(rows: np.ndarray) -> np.ndarray:
        asked.append(rows.tolist())
        return np.array([[float(row)] for row in rows], dtype=np.float32).reshape(len(rows), 1)

    look_up = _remembering(vectors_of)
    for rows in ([3, 5, 9], [5], [9], [3, 9], [1], [11], [4], [11], [3, 4], []):
        assert look_up(np.array(rows, dtype=np.int64))[:, 0].tolist() == rows
    assert asked == [[3, 5, 9], [1], [11], [4], [3, 4]]


def test_a_search_that_was_not_said_to_cost_anything_costs_nothing() -> None:
    """The sums of no parts at all."""
    nothing = PartCost()
    assert (nothing.embed_seconds, nothing.retrieve_seconds, nothing.index_seconds, nothing.index_bytes) == (0, 0, 0, 0)
    assert (nothing.texts_read, nothing.texts_beyond, nothing.tokens_read, nothing.tokens_beyond) == (0, 0, 0, 0)


def test_words_that_were_lost_are_counted_again_and_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where their frequencies are known, blocks that are searched count the words of their own files."""
    monkeypatch.setattr(stages, "ROWS", Division(3, 1, 10**9))
    session = session_of(word_dataset(), tmp_path)
    (cell,) = session.cells
    stages.words(session, "words", LINES)
    for name in session.file_words.packs.entries():
        (folder,) = session.store.root.glob(f"counted-*/{name}")
        session.store.remove(folder)
    again = session_of(word_dataset(), tmp_path)
    assert make_scores(again, again.cells, Elsewhere(), Progress()) == {}
    assert len(again.file_words.packs.entries()) == 1
    fresh = session_of(word_dataset(), tmp_path / "fresh")
    assert stages.retrieve(again, cell).ranking == stages.retrieve(fresh, cell).ranking


@pytest.mark.parametrize("scope", ["repository", "all"])
def test_rankings_are_kept_as_deep_as_the_largest_budget_needs(tmp_path: Path, scope: Any) -> None:
    """To the rank at which the tokens of all results before it are spent, and at least a hundred."""
    lines = "".join(f"value_{number} = make(value)\n" for number in range(160))
    dataset = Dataset(
        "words", (repository("one", {"a.py": lines}),), (Query("q", "make value", "one"),), (), scope=scope
    )
    how: dict[str, Any] = {"chunkers": ("fixed-lines:lines=1",), "retrievers": ("bm25",)}
    for budget in (10, 1_100):
        more: dict[str, Any] = {
            "measures": (f"recall@{budget}tok",),
            "headline": f"recall@{budget}tok",
            "budgets": (budget,),
        }
        session = session_of(dataset, tmp_path / str(budget), **how, **more)
        (cell,) = session.cells
        hits = stages.retrieve(session, cell).ranking["q"]
        sizes = stages.chunk(session, "words", cell.chunker).sizes("tokens")
        spent = np.cumsum([sizes[hit.position] for hit in hits])
        assert len(hits) == max(100, int(np.searchsorted(spent, budget)) + 1)
        assert len(hits) < 160


def test_joining_is_timed_until_the_time_for_it_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all spaces together: one that comes when nothing is left is not timed."""
    session = session_of(uneven(), tmp_path, retrievers=("dense",))
    parts = [costing(part, query_seconds=dict.fromkeys(range(6), 1.0)) for part in parts_of(session, 2)]
    monkeypatch.setattr(search_cost, "time", Clock(step=4.5))
    cost = joined(session, parts).cost
    assert cost.queries_timed == 2
    assert cost.query_seconds_p50 == pytest.approx(6.0, abs=0.6)
    monkeypatch.setattr(search_cost, "time", Clock(step=0.1))
    assert joined(session, parts).cost.queries_timed == 5


@dataclass(frozen=True, kw_only=True)
class Counted(Hashing):
    """Notes what it is asked."""

    asked: ClassVar[list[str]] = []

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return the vectors."""
        self.asked.extend(texts if kind == "query" else ())
        return super().encode(texts, kind=kind)


@dataclass(frozen=True, kw_only=True)
class Away(Counted):
    """The same somewhere else."""

    local: ClassVar[bool] = False


@pytest.mark.parametrize(("encoder", "times"), [(Counted(), 1), (Away(), 0)])
def test_embedding_a_query_is_timed_where_it_is_done_here(tmp_path: Path, encoder: Counted, times: int) -> None:
    """One query that loads the model, then each by itself; one that is asked elsewhere is not embedded again."""
    whole = word_dataset()
    for queries in (whole.queries[:1], whole.queries[:3]):
        dataset = Dataset("words", whole.repositories, queries, ())
        cache = tmp_path / str(len(queries))
        session = session_of(dataset, cache, plugins={"e": encoder}, embedders=("e",), retrievers=("dense",))
        (cell,) = session.cells
        for part in stages.embedding_parts(session, *cell[:3]):
            stages.embed(session, part)
        Counted.asked.clear()
        assert stages.retrieve(session, cell).cost.queries_timed == len(queries)
        texts = [query.text for query in queries]
        assert Counted.asked == times * [texts[0], *texts]
    assert not query_embedding_timed(Search(Dense(), object(), session.embeddings, 5, {}))  # type: ignore[arg-type] # says nothing


def test_a_chunk_of_which_one_character_is_left_is_searched(tmp_path: Path) -> None:
    """One of which nothing is left is not."""
    texts = {"a.py": "ab\ncd\n"}
    hidden = (HiddenSpan("one", "a.py", 0, 1), HiddenSpan("one", "a.py", 3, 5))
    dataset = Dataset("words", (repository("one", texts),), (Query("q", "x", "one"),), (), hidden=hidden)
    session = session_of(dataset, tmp_path, chunkers=("fixed-lines:lines=1",))
    chunks = stages.chunk(session, "words", "fixed-lines:lines=1")
    assert searchable_rows(session.dataset("words"), chunks)["one"].tolist() == [0]
