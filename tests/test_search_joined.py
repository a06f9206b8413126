"""A search part by part: what each part says of itself, and what the whole is made of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from small_corpora import WORDS, module, repository, session_of

from chunkers.sizes import ruler
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTexts
from evaluation.experiment.part_search import Search, queries_of
from evaluation.experiment.searched_part import SearchedPart, load_part, save_part
from evaluation.experiment.searching import (
    Retrieved,
    join_searched,
    load_retrieved,
    query_embedding_timed,
    save_retrieved,
)
from evaluation.experiment.session import Session
from evaluation.experiment.visible_chunks import searchable_rows, space_parts
from evaluation.results.facts import CostFacts, SearchFacts, Truncation
from ground_truth.types import Dataset, HiddenSpan, Query
from indexing.bm25 import BM25
from indexing.dense import Dense
from indexing.embedding_cache import text_keys
from indexing.encoders.hashing import Hashing
from indexing.hybrid import Hybrid
from indexing.types import Hit, Index, QueryBatch, SearchSpace

LINES = "fixed-lines:lines=5"


@dataclass(frozen=True, kw_only=True)
class Longest:
    """Ranks the longest texts first, whatever is asked; it cannot be split, and prepares nothing."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the same for every query."""
        order = sorted(range(len(space.texts)), key=lambda row: (-len(space.texts[row]), row))
        return [[Hit(row, float(len(space.texts[row]))) for row in order[:depth]] for _ in queries.texts]


@dataclass(frozen=True, kw_only=True)
class Indexed(Longest):
    """The same with an index of 7 bytes for each text, and a diagnosis: how many texts there are."""

    def prepare(self, space: SearchSpace) -> Index:
        """Return the index."""

        def search(queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
            return self.search(space, queries, depth=depth)

        return Index(7 * len(space.texts), search)

    def diagnostics(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> Mapping[str, float]:
        """Return the number of texts, queries and ranks."""
        return {"texts": float(len(space.texts)), "queries": float(len(queries.texts)), "depth": float(depth)}


@dataclass(frozen=True, kw_only=True)
class Windowed(Hashing):
    """Reads four words of a text; nobody says where it runs."""

    local: ClassVar[bool] = False

    @property
    def max_tokens(self) -> int | None:
        """Return the window."""
        return 4

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the words of each text."""
        return [len(text.split()) for text in texts]


def uneven(**more: Any) -> Dataset:
    """Return three repositories: two with queries, one that nobody asks; and a query whose repository is not there."""
    texts = {"one": WORDS[:4], "quiet": WORDS[4:], "two": WORDS[2:]}
    held = tuple(repository(name, {f"{word}.py": module(word) for word in words}) for name, words in texts.items())
    asked = [("one", "apple"), ("two", "drum"), ("one", "bolt"), ("gone", "candle"), ("two", "flute"), ("one", "drum")]
    queries = tuple(Query(f"q{n}", f"make a {word}", repo) for n, (repo, word) in enumerate(asked))
    return Dataset("words", held, queries, (), **more)


def how_of(session: Session) -> Search:
    """Return how the only cell of a session is searched."""
    (cell,) = session.cells
    return Search(
        retriever=session.retriever(cell.retriever),
        encoder=session.encoder(cell.embedder),
        embeddings=session.embeddings,
        depth=session.config.depth,
        budgets=session.budgets_read,
    )


def parts_of(session: Session, *edges: int) -> list[SearchedPart]:
    """Search the only cell in blocks of files that end there."""
    (cell,) = session.cells
    count = len(stages.chunk(session, cell.dataset, cell.chunker).files)
    ends = [0, *edges, count]
    return [stages.search_block(session, stages.SearchBlock(cell, range(a, b), 1)) for a, b in itertools.pairwise(ends)]


def joined(session: Session, parts: Sequence[SearchedPart], *, words: Mapping[str, int] | None = None) -> Retrieved:
    """Join parts of the only cell."""
    (cell,) = session.cells
    chunks, loaded = stages.chunk(session, cell.dataset, cell.chunker), session.dataset(cell.dataset)
    return join_searched(how_of(session), loaded, chunks, parts, words=words or {})


def costing(part: SearchedPart, **more: Any) -> SearchedPart:
    """Return the part with other costs."""
    return replace(part, cost=replace(part.cost, **more))


@pytest.mark.parametrize(
    ("retriever", "searches", "reach", "reads"),
    [
        (BM25(), 1, 5, {"words"}),
        (Dense(), 1, 5, {"vectors"}),
        (Hybrid(pool=50), 2, 50, {"words", "vectors"}),
        (Dense(index="hnsw"), 0, 5, set()),
        (Longest(), 0, 5, set()),
    ],
)
def test_a_search_says_what_it_is_made_of(
    tmp_path: Path, retriever: Any, searches: int, reach: int, reads: set[str]
) -> None:
    """How many exact searches, how deep each goes, and what it looks at."""
    session = session_of(uneven(), tmp_path)
    how = Search(retriever, Hashing(), session.embeddings, 5, {})
    assert (len(how.searches), how.reach) == (searches, reach)
    assert {what for what in ("words", "vectors", "nothing") if how.reads(what)} == reads


def test_queries_ask_their_own_repository_or_everything(tmp_path: Path) -> None:
    """By the scope of the dataset."""
    own = session_of(uneven(), tmp_path / "own").dataset("words")
    assert {space: queries_of(own, space) for space in ("one", "two", "quiet", "gone")} == {
        "one": [0, 2, 5],
        "two": [1, 4],
        "quiet": [],
        "gone": [3],
    }
    everything = session_of(uneven(scope="all"), tmp_path / "all").dataset("words")
    assert queries_of(everything, "") == list(range(6))


@pytest.mark.parametrize("scope", ["repository", "all"])
def test_a_part_has_the_chunks_of_its_files_by_search_space(tmp_path: Path, scope: str) -> None:
    """Any files in a row, without chunks of which all is hidden; put together they are the spaces."""
    hidden = (HiddenSpan("one", "bolt.py", 0, 40), HiddenSpan("two", "drum.py", 0, 1_000))
    session = session_of(uneven(scope=scope, hidden=hidden), tmp_path)
    loaded, chunks = session.dataset("words"), stages.chunk(session, "words", LINES)
    spaces = searchable_rows(loaded, chunks)
    assert {repo: len(rows) for repo, rows in spaces.items()} == {"one": 7, "quiet": 4, "two": 6}
    repos = [file.repo for file in chunks.files]
    for start, end in itertools.combinations_with_replacement(range(len(repos) + 1), 2):
        parts = space_parts(loaded, chunks, range(start, end))
        names = [name for name, _ in itertools.groupby("" if scope == "all" else repo for repo in repos[start:end])]
        assert [part.space for part in parts] == names
        assert [file for part in parts for file in part.files] == list(range(start, end))
        for part in parts:
            rows = [
                row
                for row in np.concatenate(list(spaces.values())).tolist()
                if chunks.columns["file"][row] in part.files
            ]
            assert part.rows.tolist() == sorted(rows)


def test_a_part_has_what_was_found_for_the_queries_of_its_spaces(tmp_path: Path) -> None:
    """Queries space by space, rows in order, keys and lengths of the texts that were embedded, and no other space."""
    session = session_of(uneven(), tmp_path, retrievers=("dense",))
    chunks, loaded = stages.chunk(session, "words", LINES), session.dataset("words")
    whole, quiet = parts_of(session)[0], parts_of(session, 4, 6)[1]
    assert [tuple(each) for each in whole.asked] == [("one", 0, 3), ("two", 3, 5)]
    assert whole.queries.tolist() == [0, 2, 5, 1, 4]
    rows = [row for row in range(len(chunks)) if chunks.files[chunks.columns["file"][row]].repo != "quiet"]
    assert whole.rows.tolist() == rows
    texts = list(ChunkTexts(chunks, rows, loaded))
    assert np.array_equal(whole.keys, text_keys(texts))
    assert whole.characters.tolist() == list(map(len, texts))
    assert whole.of("quiet") is None
    assert quiet.asked == []
    assert [len(found.positions) for found in quiet.found] == [0]
    (of_two,) = whole.of("two") or []
    assert {chunks.files[chunks.columns["file"][row]].repo for row in of_two.positions.ravel() if row >= 0} == {"two"}
    assert len(of_two.positions) == 2


def test_a_window_is_counted_in_texts_and_in_words(tmp_path: Path) -> None:
    """What fits exactly is not beyond it; a model without a window counts nothing."""
    texts = {"a.py": "a b c\n", "b.py": "a b c d\n", "c.py": "a b c d e\n", "d.py": "a b c d e f g\n"}
    dataset = Dataset("words", (repository("one", texts),), (Query("q", "a", "one"),), ())
    how: dict[str, Any] = {"retrievers": ("dense",), "embedders": ("narrow",), "chunkers": ("whole-file",)}
    session = session_of(dataset, tmp_path, plugins={"narrow": Windowed()}, **how)
    (part,) = parts_of(session)
    cost = part.cost
    assert (cost.texts_read, cost.texts_beyond, cost.tokens_read, cost.tokens_beyond) == (4, 2, 19, 4)
    made = joined(session, [part])
    assert made.facts.truncated == Truncation(2 / 4, 4 / 19)
    assert joined(session, [costing(part, texts_read=2, texts_beyond=0, tokens_read=0)]).facts.truncated == (
        Truncation(0.0, 4.0)
    )
    assert joined(session, [costing(part, texts_read=0)]).facts.truncated is None
    assert not query_embedding_timed(how_of(session))
    assert not made.cost.query_embedding_timed


def test_a_retriever_that_cannot_be_split_is_asked_as_it_is(tmp_path: Path) -> None:
    """Without an index nothing is known of its size and time; with one both are, and its diagnoses are averaged."""
    plugins = {"longest": Longest(), "indexed": Indexed()}
    made = {}
    for name in plugins:
        session = session_of(uneven(), tmp_path, plugins=plugins, retrievers=(name,), depth=100)
        made[name] = joined(session, parts_of(session))
        chunks = stages.chunk(session, "words", LINES)
        rows = searchable_rows(session.dataset("words"), chunks)
        for place, query in enumerate(session.dataset("words").dataset.queries):
            own = sorted(
                rows.get(query.repo, []),
                key=lambda row: -int(chunks.columns["end"][row] - chunks.columns["start"][row]),
            )
            found = [hit.position for hit in made[name].ranking[query.id]]
            lengths = [int(chunks.columns["end"][row] - chunks.columns["start"][row]) for row in found]
            assert len(found) == len(own), place
            assert lengths == sorted(lengths, reverse=True)
            assert set(found) <= {int(row) for row in own}
    plain, prepared = made["longest"].cost, made["indexed"].cost
    assert (plain.index_bytes, plain.index_seconds, plain.queries_timed, plain.query_seconds_p50) == (
        None,
        None,
        0,
        None,
    )
    assert made["longest"].facts.diagnostics == {}
    assert prepared.index_bytes == 7 * 16
    assert prepared.index_seconds is not None
    assert prepared.queries_timed == 5
    assert made["indexed"].facts.diagnostics == {"texts": 8.0, "queries": 2.5, "depth": 100.0}
    assert not made["indexed"].facts.uses_vectors


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid", "indexed"])
def test_a_part_is_read_as_it_was_written(tmp_path: Path, retriever: str) -> None:
    """Also one of files that nobody asks, and its times by query."""
    session = session_of(uneven(), tmp_path / "cache", plugins={"indexed": Indexed()}, retrievers=(retriever,))
    for number, part in enumerate(parts_of(session, 4, 6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        save_part(part, folder)
        read = load_part(folder)
        assert (list(read.asked), read.cost) == (list(part.asked), part.cost)
        for name in ("queries", "rows", "keys", "characters"):
            assert np.array_equal(getattr(read, name), getattr(part, name))
        assert len(read.found) == len(part.found)
        for one, other in zip(read.found, part.found, strict=True):
            assert np.array_equal(one.positions, other.positions)
            assert np.array_equal(one.scores, other.scores)
            assert one.scores.dtype == other.scores.dtype


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid"])
def test_the_number_of_queries_at_a_time_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retriever: str
) -> None:
    """Two at a time, all at once; one part or three; every query has its own hits and no other's."""
    made: list[Retrieved] = []
    for at_once, edges in ((1_000, ()), (2, ()), (2, (1, 7)), (1, (4,))):
        monkeypatch.setattr("evaluation.experiment.part_search.QUERIES_AT_ONCE", at_once)
        monkeypatch.setattr("evaluation.experiment.searching.QUERIES_AT_ONCE", at_once)
        session = session_of(uneven(), tmp_path, retrievers=(retriever,))
        made.append(joined(session, parts_of(session, *edges)))
    assert all(each.ranking == made[0].ranking for each in made)
    assert list(made[0].ranking) == ["q0", "q2", "q5", "q1", "q4", "q3"]
    assert [len(hits) for hits in made[0].ranking.values()][-1] == 0
    if retriever == "bm25":
        chunks = stages.chunk(session, "words", LINES)
        best = [hits[0].position for hits in list(made[0].ranking.values())[:5]]
        assert [chunks.files[chunks.columns["file"][row]][:2] for row in best] == [
            *(("one", "apple.py"), ("one", "bolt.py"), ("one", "drum.py"), ("two", "drum.py"), ("two", "flute.py"))
        ]


def test_a_query_is_timed_where_every_part_has_timed_it(tmp_path: Path) -> None:
    """Its seconds are those of all parts together, and of joining them; quantiles are over the queries."""
    session = session_of(uneven(), tmp_path, retrievers=("dense",))
    first, second = parts_of(session, 2)
    parts = [
        costing(first, query_seconds={0: 1_000.0, 2: 3_000.0, 5: 2_000.0}, index_seconds=5.0),
        costing(second, query_seconds={0: 10_000.0, 5: 20_000.0, 1: 100_000.0}, index_seconds=7.0),
    ]
    cost = joined(session, parts).cost
    assert cost.queries_timed == 3
    assert cost.query_seconds_p50 == pytest.approx(22_000, abs=100)
    assert cost.query_seconds_p95 == pytest.approx(np.quantile([11_000, 22_000, 100_000], 0.95), abs=200)
    assert (cost.index_seconds, cost.query_embedding_timed) == (12.0, True)
    nothing = joined(session, [costing(part, query_seconds={}) for part in parts]).cost
    assert (nothing.queries_timed, nothing.query_seconds_p50, nothing.query_seconds_p95) == (0, None, None)
    assert not nothing.query_embedding_timed


def test_an_index_is_as_large_as_its_parts_and_its_words(tmp_path: Path) -> None:
    """Of spaces that somebody asks; hidden chunks are counted, and seconds of parts are added up."""
    session = session_of(uneven(hidden=(HiddenSpan("quiet", "engine.py", 0, 1_000),)), tmp_path)
    parts = [
        costing(part, index_bytes=100 * number, embed_seconds=10.0 * number, retrieve_seconds=50.0)
        for number, part in enumerate(parts_of(session, 2), start=1)
    ]
    made = joined(session, parts, words={"one": 7_000, "two": 90_000, "quiet": 1_000_000})
    assert made.cost.index_bytes == 300 + 7_000 + 90_000
    assert made.facts.hidden_chunks == 2
    assert made.seconds["embed"] == 30.0
    assert made.seconds["retrieve"] == pytest.approx(100, abs=20)
    assert (made.cost.texts_embedded, made.cost.tokens_embedded, made.cost.embed_seconds) == (0, 0, 0.0)


def test_what_is_embedded_is_counted_with_its_headers_and_once(tmp_path: Path) -> None:
    """Distinct texts of all spaces, their visible tokens and those of their headers, and their characters by speed."""
    hidden = (HiddenSpan("one", "bolt.py", 0, 10),)
    how: dict[str, Any] = {"retrievers": ("dense",), "chunkers": ("fixed-lines:lines=5,header=path",)}
    session = session_of(uneven(hidden=hidden), tmp_path, **how)
    (cell,) = session.cells
    stages.embed(session, stages.embedding_parts(session, *cell[:3])[1])
    made = stages.retrieve(session, cell)
    chunks, loaded = stages.chunk(session, "words", cell.chunker), session.dataset("words")
    texts: dict[str, int] = {}
    for row in range(len(chunks)):
        file = chunks.files[chunks.columns["file"][row]]
        start, end = int(chunks.columns["start"][row]), int(chunks.columns["end"][row])
        if file.repo != "quiet":
            header, own = (chunks.headers[row] + "\n").encode(), ruler(loaded.read(file), "tokens")
            starts = [at for at in own.starts.tolist() if start <= at < end]
            secret = [at for at in starts if file[:2] == ("one", "bolt.py") and at < 10]
            (text,) = ChunkTexts(chunks, [row], loaded)
            texts[text] = len(starts) - len(secret) + ruler(header, "tokens").count(0, len(header))
    assert (made.cost.texts_embedded, made.cost.tokens_embedded) == (len(texts), sum(texts.values()))
    speed = session.embeddings.seconds_per_character(session.encoder(cell.embedder))
    assert speed is not None
    assert made.cost.embed_seconds is not None
    assert made.cost.embed_seconds / sum(map(len, texts)) == pytest.approx(speed, rel=0.5)


def test_nothing_to_search_is_no_hits(tmp_path: Path) -> None:
    """Files without text, or no files at all, by words and by vectors."""
    for texts, retriever in itertools.product(({"a.py": ""}, {}), ("bm25", "dense", "hybrid")):
        dataset = Dataset("words", (repository("one", texts),), (Query("q", "a", "one"),), ())
        session = session_of(dataset, tmp_path / f"{retriever}{len(texts)}", retrievers=(retriever,))
        (cell,) = session.cells
        made = stages.retrieve(session, cell)
        assert made.ranking == {"q": []}
        assert made.cost.queries_timed == 0


@pytest.mark.parametrize("truncated", [None, Truncation(0.25, 0.5)])
def test_rankings_are_read_as_they_were_written(tmp_path: Path, truncated: Truncation | None) -> None:
    """Queries with many hits, with one and with none, in their order, and all that is said of them."""
    ranking = {"b": [Hit(3, 0.5), Hit(2**40, 0.25), Hit(0, -1.0)], "a": [], "c": [Hit(7, 1e-300)]}
    facts = SearchFacts(uses_vectors=False, truncated=truncated, hidden_chunks=3, diagnostics={"recall": 0.5})
    cost = CostFacts(index_bytes=7, query_seconds_p50=0.5, queries_timed=3, machine="m")
    made = Retrieved(ranking, facts, {"embed": 1.0, "retrieve": 2.0}, cost)
    save_retrieved(made, tmp_path)
    assert load_retrieved(tmp_path) == made
    assert list(load_retrieved(tmp_path).ranking) == ["b", "a", "c"]
