"""Relevance strategies, token F1, and the projection onto a reference chunker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import module, session_of, word_dataset

from chunkers.errors import UsageError
from chunkers.splitting import line_span
from chunkers.types import Chunk
from evaluation.experiment import stages
from evaluation.experiment.qrels import qrels_of
from ground_truth.line_axis import ChunkLines
from ground_truth.lines import FileLines
from ground_truth.overlap import Judgements
from ground_truth.projection import Projection
from ground_truth.relevance import Text, judge, judge_chunker
from ground_truth.rules import parse_rule
from ground_truth.spans import FileKey
from ground_truth.token_f1 import shared_f1, tokens
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

PARIS = "Paris is the capital of France."
QUERIES = [Query("a", "?", "r", expected=PARIS), Query("b", "?", "r")]
CHUNKS = [Text("1", "Paris is the capital and most populous city of France..."), Text("2", "Berlin")]


def token_f1(expected: str, text: str) -> float:
    """Return the token F1 of two texts."""
    return shared_f1(tokens(expected), tokens(text))


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


def dataset(**options: Any) -> Dataset:
    """Return two questions about one file, the first of which has an expected answer."""
    return Dataset("d", (), tuple(QUERIES), **{"annotations": (), **options})


def judged(rule: str, data: Dataset, *, mixed: bool = False) -> Judgements:
    """Return the judgements of two texts; lines are of one file in two chunks."""
    return judge(parse_rule(rule), data, lambda: table(DATA, [(0, 5), (5, 11)]), texts=lambda _: CHUNKS, mixed=mixed)


NOTE = Annotation("a", "r", "f", 1, 1)


def test_the_first_strategy_that_knows_a_query_decides() -> None:
    """Annotations win over the dataset's own function; what neither knows has nothing relevant."""
    found = judged("any", dataset(annotations=(NOTE,), relevance=lambda _, text: "Berlin" in text), mixed=True)
    assert found.qrels == {"a": {"0-5": 1}, "b": {"2": 1}}
    report = found.report()
    assert report["strategyUsed"] == "mixed"
    assert report["strategyCounts"] == {"qrels": 1, "pack": 1, "token-fallback": 0}
    assert report["queriesWithRelevant"] == 2
    silent = judged("any", dataset(annotations=(NOTE,), relevance=lambda *_: None))
    assert (silent.qrels, silent.strategy_used) == ({"a": {"0-5": 1}, "b": {}}, "qrels")


def test_strategies_are_not_mixed_in_silence() -> None:
    """Unless that is asked for, two strategies in one result are an error."""
    with pytest.raises(UsageError, match="whose scores do not compare"):
        judged("any", dataset(annotations=(NOTE,), relevance=lambda *_: True))


def test_token_f1_is_chosen_by_name_and_labelled() -> None:
    """The rule judges texts by its threshold, counts exact matches, and needs an expected answer for every query."""
    one = replace(dataset(), queries=tuple(QUERIES[:1]))
    found = judged("token_f1", one)
    assert (str(found.rule), found.qrels) == ("token_f1(0.3)", {"a": {"1": 1}})
    assert (found.strategy_used, found.exact_matches) == ("token-fallback", 0)
    assert judged("token_f1(0.8)", one).qrels == {"a": {}}
    exact = judge(found.rule, one, lambda: table(DATA, []), texts=lambda _: [Text("x", f"So: {PARIS}")])
    assert exact.exact_matches == 1
    with pytest.raises(UsageError, match="'b' has no expected answer"):
        judged("token_f1", dataset())


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


@pytest.mark.parametrize("rule", ["any", "min_cover", "graded(purity)", "chunk_fraction(0.5)", "token_f1(0.9)"])
def test_the_qrels_of_a_chunker_are_those_of_an_experiment(tmp_path: Path, rule: str) -> None:
    """Hidden text makes no chunk relevant, and expected answers are compared with what an index shows."""
    text = module("apple")
    documented = "def make_apple(size):\n"
    hidden = [HiddenSpan("one", "apple.py", text.index(documented), text.index(documented) + len(documented))]
    queries = [replace(query, expected="apple.py def make_apple size") for query in word_dataset().queries]
    whole = replace(word_dataset(hidden=hidden), queries=tuple(queries))
    spec = "fixed-lines:lines=1,header=path"
    session = session_of(whole, tmp_path, chunkers=(spec,))
    experiment = qrels_of(parse_rule(rule), session.dataset("words"), stages.chunk(session, "words", spec))
    alone = judge_chunker(parse_rule(rule), whole, session.chunker(spec))
    assert alone.qrels == experiment.qrels
    assert (
        alone.qrels["one-apple"]
        != judge_chunker(parse_rule(rule), replace(whole, hidden=()), session.chunker(spec)).qrels["one-apple"]
    )
