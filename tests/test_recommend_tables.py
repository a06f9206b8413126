"""The tables of a recommendation's page: the final with the chunker in use, and who is on a front."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from test_recommend_page import _made

from evaluation.recommend.page import _figures, cost_columns, final_caption, finalists_table
from evaluation.recommend.types import CandidateRecord, Cost, Current
from evaluation.statistics import Interval, compare_pairs


def test_the_chunker_in_use_stands_below_the_finalists() -> None:
    """With its mean on unseen queries and its cost; where it was not measured, or is recommended, there is no row."""
    made = _made("cast:size=600")
    scores = np.random.default_rng(0).random((2, 30))
    (change,) = compare_pairs(scores, ["r"] * 30, names=["cast:size=600", "old"])
    mean = Interval(0.25, 0.1, 0.4, "t over repositories", 10)
    used = Current("old", mean, change, Cost(chunks=77, mean_nws=123.0, tokens=4567))
    first, last = finalists_table(replace(made, current=used)).rows
    assert first[0].startswith("cast:size=600")
    assert last[:6] == ["old (in use)", "–", "25.0", "10.0 … 40.0", "–", "–"]
    assert last[6:9] == ["77", "123", "4,567"]
    for less in (replace(used, mean=None), replace(used, cost=None), replace(used, change=None)):
        assert len(finalists_table(replace(made, current=less)).rows) == 1
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


def test_a_risk_is_that_of_others_and_not_rounded_to_none() -> None:
    """Alone, a finalist risks nothing that could be named."""
    made = _made("a")
    (first,) = made.finalists
    risks = (0.0, 0.0004, 0.0123)
    several = replace(made, finalists=tuple(replace(first, final_risk=risk) for risk in risks))
    assert [row[5] for row in finalists_table(several).rows] == ["0.0", "< 0.1", "1.2"]
    assert finalists_table(made).rows[0][5] == "–"
