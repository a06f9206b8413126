"""The tables of a recommendation's page: the final with the chunker in use, and who is on a front."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from test_recommend_page import _made

from evaluation.recommend.document import to_json
from evaluation.recommend.page import (
    _facts,
    _figures,
    _left_table,
    _rounds_table,
    cost_columns,
    final_caption,
    finalists_table,
)
from evaluation.recommend.types import CandidateRecord, Cost, Current, RoundFacts
from evaluation.report.sections import Figure
from evaluation.statistics import Interval, compare_pairs


def test_the_chunker_in_use_stands_below_the_finalists() -> None:
    """With its mean on unseen queries and its cost; where it was not measured, or is recommended, there is no row."""
    made = _made("cast:size=600")
    scores = np.random.default_rng(0).random((2, 30))
    (change,) = compare_pairs(scores, ["r"] * 30, names=["cast:size=600", "old"])
    mean = Interval(0.25, 0.1, 0.4, "t over repositories", 10)
    used = Current("old", mean, change, Cost(chunks=77, mean_nws=123.0, tokens=4567))
    table = finalists_table(replace(made, current=used))
    first, last = table.rows
    assert table.words == {0, 4}
    one, two = table.data
    assert (one["recommended"], one["all_queries"], one["chunks"]) == (True, 0.5, 10)
    assert (two["finalist"], two["in_use"], two["unseen_queries"], two["chunks"]) == ("old", True, 0.25, 77)
    undivided = finalists_table(replace(made, current=used, rounds=made.rounds[1:]))
    assert undivided.rows[1][:5] == ["old (in use)", "25.0", "10.0 … 40.0", "–", "–"]
    assert undivided.words == {0, 3}
    assert first[0].startswith("cast:size=600")
    assert last[:6] == ["old (in use)", "–", "25.0", "10.0 … 40.0", "–", "–"]
    assert last[6:9] == ["77", "123", "4,567"]
    for less in (replace(used, mean=None), replace(used, cost=None), replace(used, change=None)):
        bare = finalists_table(replace(made, current=less))
        assert len(bare.rows) == len(bare.data) == 1
    assert len(finalists_table(made).rows) == 1


def test_only_those_that_no_cheaper_one_beats_are_on_the_front() -> None:
    """Cheaper and worse, dearer and better; not dearer and worse. Sizes have no front."""
    made = _made("a")

    def record(spec: str, chunks: int, tokens: int, mean: float) -> CandidateRecord:
        interval = Interval(mean, mean - 0.1, mean + 0.1, "t over repositories", 10)
        return CandidateRecord(spec, spec, "finalist", "", chunks, 500.0, tokens, 9, 2, (interval, interval))

    field = (record("a", 10, 900, 0.5), record("b", 20, 300, 0.6), record("c", 30, 950, 0.55), record("d", 5, 800, 0.2))
    figures = dict(_figures(replace(made, candidates=field)))
    by_chunks, by_tokens = (figures[f"Score against {words}"].table for words in ("chunks", "tokens to index"))
    assert {row[1]: row[-1] for row in by_chunks.rows} == {"a": "yes", "b": "yes", "c": "no", "d": "yes"}
    assert {row[1]: row[-1] for row in by_tokens.rows} == {"a": "no", "b": "yes", "c": "no", "d": "no"}
    for table in (by_chunks, by_tokens):
        for row, data in zip(table.rows, table.data, strict=True):
            assert data["on_the_front"] is (row[-1] == "yes")
    assert "on the front" not in figures["Score against size"].table.header


def test_columns_of_cost_are_those_that_apply() -> None:
    """Minutes for an embedder, a price where there is one, with more digits where it is small."""
    made, cost = _made("a"), Cost(chunks=1234, mean_nws=567.8, tokens=9, index_mb=1.25, embed_minutes=2.0, price=0.05)
    plain = cost_columns(made, cost)
    assert (plain["chunks"], plain["nws"], plain["tokens"]) == ("1,234", "568", "9")
    assert "min to embed" not in plain
    assert "price" not in plain
    assert cost_columns(replace(made, embedder="minilm"), cost)["min to embed"] == "2.0"
    priced = replace(made, price=1.0)
    prices = (12.345, 0.1, 0.05, 0.0123, 0.0000047, 0.0)
    found = [cost_columns(priced, replace(cost, price=price))["price"] for price in prices]
    assert found == ["12.35", "0.10", "0.0500", "0.0123", "0.0000047", "0.0000"]
    sizes = [cost_columns(made, replace(cost, index_mb=size))["index MB"] for size in (1.25, 0.6, 0.04, None)]
    assert sizes == ["1.2", "0.6", "0.040", "–"]


def test_without_a_round_there_is_one_mean() -> None:
    """Of all queries, with its interval; the caption speaks of unseen ones only where there are some."""
    made = _made("a")
    assert finalists_table(made).header[1:4] == ["all queries", "unseen queries", "95 % interval"]
    assert "unseen" in final_caption(made)
    alone = replace(made, rounds=made.rounds[1:])
    table = finalists_table(alone)
    assert table.header[1:3] == ["all queries", "95 % interval"]
    assert table.rows[0][1:5] == ["50.0", "40.0 … 60.0", "yes", "–"]
    assert "unseen" not in final_caption(alone)


def test_a_risk_is_that_of_others_and_rounded_up() -> None:
    """Alone, a finalist risks nothing that could be named."""
    made = _made("a")
    (first,) = made.finalists
    risks = (0.0, 0.0004, 0.0123)
    several = replace(made, finalists=tuple(replace(first, final_risk=risk) for risk in risks))
    assert [row[5] for row in finalists_table(several).rows] == ["0.0", "0.1", "1.3"]
    assert finalists_table(made).rows[0][5] == "–"


def test_the_finalists_are_marked() -> None:
    """The recommended one by an arrow, and each by whether it may be best, in words and as data."""
    made = _made("a")
    (first,) = made.finalists
    table = finalists_table(replace(made, finalists=(replace(first, spec="b", may_be_best=False), first)))
    assert [(row[0], row[4]) for row in table.rows] == [("b", "no"), ("a ←", "yes")]
    assert [(row["finalist"], row["recommended"], row["may_be_best"]) for row in table.data] == [
        ("b", False, False),
        ("a", True, True),
    ]


def test_who_left_is_listed_from_the_last_round_to_the_first() -> None:
    """With what is known of each: those that never raced have no mean, finalists are behind nobody."""
    mean, early = Interval(0.5, 0.4, 0.6, "t", 10), Interval(0.3, 0.2, 0.4, "t", 5)
    field = (
        CandidateRecord("never", "f", "over the limit", "too many", 2000, 100.0),
        CandidateRecord("left", "f", "behind", "behind", 20, 300.4, 900, 9, 1, (early,), True, 0.12, 0.05, "met"),
        CandidateRecord("beaten", "f", "worse", "worse", 21, 300.0, 900, 9, 1, (early,), False, 0.02, 0.2, "met"),
        CandidateRecord("met", "f", "finalist", "measured", 10, 500.0, 1000, 9, 2, (early, mean), True),
        CandidateRecord("third", "f", "finalist", "measured", 10, 500.0, 1000, 9, 3, (early, early, mean), True, 0.01),
    )
    table = _left_table(replace(_made("met"), candidates=field))
    assert table.rows == [
        ["third", "3", "50.0", "–", "1.0", "10", "500", "measured"],
        ["met", "2", "50.0", "–", "–", "10", "500", "measured"],
        ["left", "1", "30.0", "5.0", "12.0", "20", "300", "behind"],
        ["beaten", "1", "30.0", "20.0", "–", "21", "300", "worse"],
        ["never", "–", "–", "–", "–", "2,000", "100", "too many"],
    ]
    assert table.words == {0, 7}
    assert [row["last_round"] for row in table.data] == [3, 2, 1, 1, None]
    assert [row["naurc@4000tok"] for row in table.data] == [0.5, 0.5, 0.3, 0.3, None]


def test_rounds_are_numbered_and_the_last_is_the_final() -> None:
    """However many there are."""
    made = _made("a")
    assert [row[0] for row in _rounds_table(made).rows] == ["round 1", "final"]
    three = replace(made, rounds=(RoundFacts(9, 1200, 2, 3000, 0.125), *made.rounds))
    table = _rounds_table(three)
    assert [row[0] for row in table.rows] == ["round 1", "round 2", "final"]
    assert table.rows[0][1:] == ["9", "1,200", "2", "3,000", "12%"]
    assert table.data[0] == {
        "round": "round 1",
        "candidates": 9,
        "queries": 1200,
        "repositories": 2,
        "files": 3000,
        "share": 0.125,
    }
    assert [row[0] for row in _rounds_table(replace(made, rounds=made.rounds[1:])).rows] == ["final"]


def test_facts_name_what_searched_and_where_queries_come_from() -> None:
    """An embedder beside the retriever, and queries that nobody asked."""
    made = _made("a")
    assert _facts(made) == "a: 15 queries in 1 repository; searched by bm25; seed 0"
    other = replace(made, embedder="minilm", retriever="hybrid", mined=True)
    assert _facts(other) == (
        "a: 15 queries in 1 repository, mined from the code itself rather than asked by people; "
        "searched by hybrid with minilm; seed 0"
    )


def _drawn(**more: object) -> dict[str, Figure]:
    """Return the figures of three candidates that raced and two that did not, by title."""
    made = _made("a")

    def record(spec: str, mean: float, tokens: int) -> CandidateRecord:
        first, last = (Interval(at, at - 0.05, at + 0.05, "t", 5) for at in (mean, 0.9))
        return CandidateRecord(spec, "f", "finalist", "", 1000, 1500.0, tokens, 9, 2, (first, last))

    field = (
        record("a", 0.5, 2),
        record("b", 0.4, 1),
        replace(record("c", 0.3, 3), rounds=(Interval(0.3, math.nan, math.nan, "t", 1),)),
        replace(record("never", 0.5, 1), rounds=()),
        replace(record("empty", 0.5, 1), mean_nws=0.0),
    )
    return dict(_figures(replace(made, **{"candidates": field, **more})))  # type: ignore[arg-type]


def test_figures_show_the_round_in_which_all_were_measured() -> None:
    """The means and intervals of that round, a drawing for each width of the screen, and a row for each candidate."""
    figures = _drawn()
    assert list(figures) == ["Score against size", "Score against chunks", "Score against tokens to index"]
    for title, figure in figures.items():
        assert figure.caption.startswith("In the round, in which all were measured on the same 5 queries, with 95 %")
        shown = "1,500" if title.endswith("size") else "1,000" if title.endswith("chunks") else "2"
        assert figure.table.rows[0][:5] == ["1", "a", shown, "50.0", "45.0 … 55.0"]
        assert [row[1] for row in figure.table.rows] == ["a", "b", "c"]
        assert figure.table.rows[2][3:5] == ["30.0", "30.0 … 30.0"], "one query has no interval"
        assert figure.table.words == {1, 5}
        first = figure.table.data[0]
        assert (first["candidate"], first["naurc@4000tok"], first["low"]) == ("a", 0.5, pytest.approx(0.45))
        assert [re.findall(r'viewBox="0 0 (\d+)', str(svg)) for svg in (figure.wide, figure.narrow)] == [
            ["820"],
            ["340"],
        ]
    final = _drawn(rounds=(RoundFacts(3, 7, 1, 9, 1.0),))
    assert all("In the final, in which all were measured on the same 7 queries" in f.caption for f in final.values())


def test_a_drawing_needs_two() -> None:
    """One candidate is no comparison."""
    made = _made("a")
    first, second = made.candidates
    assert _figures(replace(made, candidates=(first,))) == []
    assert len(_figures(replace(made, candidates=(first, second)))) == 3


def test_prices_are_drawn_however_small() -> None:
    """In place of tokens; the cheaper one is on the front though it costs a millionth, and nothing costs nothing."""
    priced = _drawn(price=0.5)["Score against price of embedding"].table
    assert [row[2] for row in priced.rows] == ["0.0000010", "0.00000050", "0.0000015"]
    assert [row[5] for row in priced.rows] == ["yes", "yes", "no"]
    assert [row["price"] for row in priced.data] == pytest.approx([1e-6, 5e-7, 1.5e-6])
    free = _drawn(price=0.0)["Score against price of embedding"].table
    assert [row[2] for row in free.rows] == ["0.0000"] * 3
    assert "Score against tokens to index" not in _drawn(price=0.5)


def test_the_document_says_what_is_not_known_with_null() -> None:
    """Numbers in points, and null where there is none."""
    made = _made("a")
    plain = to_json(replace(made, seconds=1.23456))
    assert (plain["seconds"], plain["embedder"], plain["current"], plain["detectable"]) == (1.235, None, None, None)
    assert (plain["risk"], plain["likely_loss"], plain["margin"], plain["unit"]) == (10.0, 5.0, 2.0, "points")
    assert [each["rival"] for each in plain["candidates"]] == [None, "a"]
    assert [each["behind"] for each in plain["candidates"]] == [None, 10.0]
    full = to_json(replace(made, embedder="minilm", detectable=0.031))
    assert (full["embedder"], full["detectable"]) == ("minilm", pytest.approx(3.1))
    mean = Interval(0.25, 0.1, 0.4, "t", 10)
    scores = np.random.default_rng(0).random((2, 30))
    (change,) = compare_pairs(scores, ["r"] * 30, names=["a", "old"])
    used = to_json(replace(made, current=Current("old", mean, change, Cost(7, 1.0, 2))))["current"]
    assert (used["spec"], used["failed"], used["decision"], used["cost"]["chunks"]) == ("old", None, change.decision, 7)
    assert used["mean"] == {"mean": 25.0, "low": 10.0, "high": 40.0, "queries": 10}
    gains = (used["gain"], used["gain_low"], used["gain_high"])
    assert gains == pytest.approx(tuple(100 * part for part in (change.difference, change.low, change.high)))
    lower = replace(change, higher_is_better=False)
    used = to_json(replace(made, current=Current("old", mean, lower, Cost(7, 1.0, 2), uncut="1 file: a.py")))["current"]
    gains = (used["gain"], used["gain_low"], used["gain_high"])
    assert gains == pytest.approx(tuple(-100 * part for part in (change.difference, change.high, change.low)))
    assert used["uncut"] == "1 file: a.py"
    failed = to_json(replace(made, current=Current("old", None, None, None, "no")))["current"]
    assert failed == {
        **dict.fromkeys(("mean", "gain", "gain_low", "gain_high", "decision", "cost", "uncut")),
        "spec": "old",
        "failed": "no",
    }
