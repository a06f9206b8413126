"""Relevance strategies, token F1, and the projection onto a reference chunker."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from chunkers.splitting import line_span
from chunkers.types import Chunk
from ground_truth.line_axis import ChunkLines
from ground_truth.lines import FileLines
from ground_truth.projection import Projection
from ground_truth.relevance import Text, decide
from ground_truth.spans import FileKey
from ground_truth.token_f1 import token_f1
from ground_truth.types import Query

PARIS = "Paris is the capital of France."
QUERIES = [Query("a", "?", "r", expected=PARIS), Query("b", "?", "r")]
CHUNKS = [Text("1", "Paris is the capital and most populous city of France..."), Text("2", "Berlin")]


def test_token_f1_of_the_published_example() -> None:
    """Six of ten words, all of six: 0.75; nothing shared is 0, not an error."""
    assert token_f1(PARIS, CHUNKS[0].text) == pytest.approx(0.75)
    assert token_f1(PARIS, "Berlin") == 0
    assert token_f1("", "") == 0


@given(st.text(), st.text())
def test_token_f1_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    """The harmonic mean does not care which text is expected."""
    assert token_f1(one, other) == token_f1(other, one)
    assert 0 <= token_f1(one, other) <= 1


def test_a_chunk_with_the_whole_answer_fails_when_it_is_long() -> None:
    """A six-word answer is missed from 35 distinct words on: why this strategy cannot compare chunkers."""
    filler = [f"w{number}" for number in range(40)]
    assert token_f1(PARIS, " ".join([PARIS, *filler[:28]])) >= 0.3
    assert token_f1(PARIS, " ".join([PARIS, *filler[:29]])) < 0.3


def test_the_first_strategy_that_knows_a_query_decides() -> None:
    """Explicit qrels win over the pack, the pack over token F1; an empty label is a label."""
    everything = decide(QUERIES, CHUNKS, qrels={"a": {}}, pack=lambda _, chunk: chunk.id == "2", mixed=True)
    assert everything.qrels == {"a": {}, "b": {"2": 1}}
    assert everything.details()["strategyUsed"] == "mixed"
    assert everything.details()["strategyCounts"] == {"qrels": 1, "pack": 1, "token-fallback": 0}
    assert everything.details()["queriesWithRelevant"] == 1


def test_strategies_are_not_mixed_in_silence() -> None:
    """Without mixed=True two strategies in one result are an error that says which."""
    with pytest.raises(UsageError, match="pack and qrels"):
        decide(QUERIES, CHUNKS, qrels={"a": {}}, pack=lambda *_: True)


def test_unlabelled_is_not_empty() -> None:
    """A query that no strategy knows is listed apart; token F1 is used only when asked for."""
    assert decide(QUERIES, CHUNKS).unlabelled == ("a", "b")
    fallback = decide(QUERIES, CHUNKS, token_fallback=True)
    assert fallback.qrels == {"a": {"1": 1}}
    assert fallback.unlabelled == ("b",)
    assert fallback.details()["strategyUsed"] == "token-fallback"
    assert decide(QUERIES[1:], CHUNKS, pack=lambda *_: None).unlabelled == ("b",)


def table(data: bytes, cuts: list[tuple[int, int]]) -> ChunkLines:
    """Return the chunks of one file."""
    newlines = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    chunks = [Chunk("r", "f", None, line_span(newlines, start, end), "", "", f"{start}-{end}") for start, end in cuts]
    return ChunkLines.of({FileKey("r", "f"): FileLines.of(data)}, chunks)


DATA = b"a\nb\n\nc\nd\ne\n"


def test_lines_carry_the_best_score_to_the_reference() -> None:
    """By max a chunk takes its best line; by mean all lines with text, absent ones at the lowest score."""
    chunks, reference = table(DATA, [(0, 4), (2, 7), (7, 9)]), table(DATA, [(0, 5), (5, 11)])
    ranking = [("2-7", 0.9), ("0-4", 0.5), ("7-9", 0.1)]
    projection = Projection(chunks, reference)
    assert projection.rank(ranking) == [("0-5", 0.9), ("5-11", 0.9)]
    spread = projection.rank(ranking, aggregation="mean")
    assert [one.id for one in spread] == ["0-5", "5-11"]
    assert [one.score for one in spread] == pytest.approx([(0.5 + 0.9) / 2, (0.9 + 0.1 + 0.1) / 3])
    assert projection.rank([]) == []


def test_projection_onto_itself_keeps_the_order() -> None:
    """A chunker that is its own reference gets its own ranking back, under both aggregations."""
    cuts = [(0, 2), (2, 5), (5, 9), (9, 11)]
    same = Projection(table(DATA, cuts), table(DATA, cuts))
    ranking = [("5-9", 3.0), ("0-2", 2.0), ("9-11", 1.0)]
    for aggregation in ("max", "mean"):
        assert same.rank(ranking, aggregation=aggregation) == ranking


def test_tables_of_different_files_are_a_bug() -> None:
    """Lines of other files would be compared: refused."""
    with pytest.raises(ValueError, match="different files"):
        Projection(table(DATA, []), ChunkLines.of({}, []))
