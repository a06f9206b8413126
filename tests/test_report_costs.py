"""What rows cost, and whether an index is worth it: the numbers of the cells, each in its unit."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy as np
import pytest
from report_case import HEADLINE, simulated_results

from evaluation.report.costs import cost_legend, cost_table, index_sentences
from evaluation.report.view import View, views
from evaluation.results.comparisons import with_statistics
from evaluation.results.facts import CostFacts, TokensRead
from evaluation.results.types import Results


@functools.cache
def _run(headline: str = HEADLINE, retrievers: tuple[str, ...] = ("dense",)) -> Results:
    names = ("a", "b", "c")
    return simulated_results(names=names, edges=(0.3, 0.0, -0.1), headline=headline, retrievers=retrievers)


def _view(results: Results) -> View:
    (view,) = views(results)
    return view


def _cells(results: Results, part: str, *values: Any) -> Results:
    """Return the results with this part in each of the first cells, or with these fields of it."""
    cells = list(results.cells)
    for place, value in enumerate(values):
        old = getattr(cells[place], part)
        cells[place] = dataclasses.replace(
            cells[place], **{part: dataclasses.replace(old, **value) if isinstance(value, dict) else value}
        )
    return dataclasses.replace(results, cells=tuple(cells))


def _priced(results: Results, *costs: dict[str, Any]) -> Results:
    return _cells(results, "cost", *[CostFacts(**cost) for cost in costs])


READ: dict[str, Any] = {"tokens_to_50": TokensRead(1234.0, 0.956), "tokens_to_80": TokensRead(None, 0.25)}


def test_a_table_of_costs_has_a_column_for_all_that_is_known() -> None:
    """Half and 80 % read with how many get there, index, times; texts and tokens, and a price, where there are any."""
    whole = {**READ, "index_bytes": 5_120_000, "build_seconds": 42.0, "query_seconds_p50": 0.012}
    model = {"texts_embedded": 12_345, "tokens_embedded": 678_900, "price": 0.12345}
    results = _priced(_run(), whole, {**whole, **model}, {})
    table = cost_table(_view(results))
    assert table is not None
    assert table.header == [
        *("chunker", "half read", "reached", "80 % read", "reached", "index", "build", "query p50", "p95"),
        *("texts", "tokens", "price"),
    ]
    known = ["1,234", "96 %", "–", "25 %", "5.1 MB", "42 s", "12 ms", "–"]
    by_name = {row[0]: row[1:] for row in table.rows}
    assert by_name["a"] == [*known, "–", "–", "–"]
    assert by_name["b"] == [*known, "12,345", "678,900", "0.1235"]
    assert by_name["c"] == ["–"] * 11
    record = next(row for row in table.data if row["chunker"] == "b")
    assert record["tokens_to_50 median"] == 1234.0
    assert record["tokens_to_80 reached"] == 0.25
    assert (record["index_bytes"], record["price"], record["texts_embedded"]) == (5_120_000, 0.12345, 12_345)
    assert [row[0] for row in table.rows] == [row.chunker for row in _view(results).rows]
    plain = cost_table(_view(_priced(_run(), whole, whole, {**whole, "texts_embedded": 0})))
    assert plain is not None
    assert plain.header[-1] == "p95"
    assert cost_table(_view(_priced(_run(), {}, {}, {}))) is None


def test_times_say_what_was_timed_and_where() -> None:
    """One number of queries or a range, whether embedding is part of it, and every machine once."""
    view = _view(_priced(_run(), {}, {}, {}))
    assert len(cost_legend(view)) == 2
    assert "within 8,000 tokens" in cost_legend(view)[0]
    assert "what is embedded" not in cost_legend(view)[1]
    one = {"queries_timed": 1, "machine": "X, 2 cores", "texts_embedded": 3}
    (*_, made, timed) = cost_legend(_view(_priced(_run(), one, {}, one)))
    assert made.endswith("Texts, tokens: what is embedded, each text once.")
    assert timed.startswith("Query times are of 1 query, asked one at a time. ")
    assert timed.endswith("kept with it: X, 2 cores.")
    more = {"queries_timed": 1200, "machine": "Y", "query_embedding_timed": True}
    timed = cost_legend(_view(_priced(_run(), one, more, one)))[-1]
    assert "of 1 to 1,200 queries, asked one at a time, embedding included." in timed
    assert timed.endswith("kept with it: X, 2 cores and Y.")


def _worth(results: Results, *, bare: str) -> list[str]:
    """Return what is said of an index, where one chunker is a search without one."""
    costs = [CostFacts(index_bytes=0 if cell.key.chunker == bare else 9, **READ) for cell in results.cells]
    found = _cells(results, "cost", *costs)
    chunks = [{"count": 0} if cell.key.chunker == bare else {} for cell in results.cells]
    return list(index_sentences(views(_cells(found, "chunks", *chunks))))


@pytest.mark.parametrize(
    ("bare", "answer"), [("b", "the index is shown to be better"), ("a", "the index is shown to be worse")]
)
def test_whether_an_index_is_worth_it_is_what_the_comparison_shows(bare: str, answer: str) -> None:
    """The leading chunker against the search without an index, with the difference, its interval and what is read."""
    view = _view(_run())
    leader = next(row.chunker for row in view.rows if row.chunker != bare)
    found = view.comparison(leader, bare)
    assert found is not None
    (said,) = _worth(_run(), bare=bare)
    signs = [f"{100 * value:+.1f}".replace("-", "−") for value in (found.difference, found.low, found.high)]
    assert said == (
        f"Is an index worth it? naurc@4000tok of the leading chunker minus {bare}, the leading search without one, in "
        f"points: {leader} {signs[0]} ({signs[1]} … {signs[2]}): {answer}. Tokens until half of the answer has been "
        f"read, and the share of the queries that get there: {leader}: 1,234 (96 %); {bare}: 1,234 (96 %)."
    )
    assert _worth(_run(), bare="nobody") == []


def test_an_index_in_several_settings_is_counted() -> None:
    """Better in some, worse in others, or nothing shown; what never gets there is beyond the budgets."""
    results = _run(retrievers=("dense", "bm25"))
    (said,) = _worth(results, bare="b")
    assert ": the index is shown to be better in 2 of 2 settings. " in said
    assert re.search(r"in points: minilm · dense: a \+[\d.]+ \(.*?\); bm25: a \+[\d.]+ \(.*?\): the index", said)
    assert said.endswith("minilm · dense: 1,234 (96 %); bm25: 1,234 (96 %); b: 1,234 (96 %).")
    turned = [
        dataclasses.replace(cell, scores={**cell.scores, HEADLINE: 1 - cell.scores[HEADLINE]}) if k >= 3 else cell
        for k, cell in enumerate(results.cells)
    ]
    mixed = with_statistics(dataclasses.replace(results, cells=tuple(turned)))
    (said,) = _worth(mixed, bare="b")
    assert ": the index is shown to be better in 2 of 2 settings. " in said  # c leads where all is turned
    (said,) = _worth(mixed, bare="a")
    assert ": the index is shown to be better in 1 and worse in 1 of 2 settings. " in said
    equal = [dataclasses.replace(cell, scores={**cell.scores, HEADLINE: np.full(64, 0.5)}) for cell in results.cells]
    (said,) = _worth(with_statistics(dataclasses.replace(results, cells=tuple(equal))), bare="b")
    assert ": no difference is shown. " in said
    costs = _cells(
        _run(), "cost", CostFacts(index_bytes=0, tokens_to_50=TokensRead(None, 0.1)), CostFacts(), CostFacts()
    )
    bare = _cells(costs, "chunks", {"count": 0})
    (said,) = index_sentences(views(bare))
    assert said.endswith("b: not known; a: beyond the budgets (10 %).")
