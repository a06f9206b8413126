"""Tables of a setting hold the numbers of its cells, in the order and unit in which they are shown."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
from report_case import HEADLINE, simulated_results, with_cell

from evaluation.report.tables import (
    Table,
    comparison_table,
    csv_rows,
    group_mean,
    group_table,
    group_tables,
    health_table,
    published_table,
    ranking_table,
)
from evaluation.report.view import Setting, View, find_pair, views
from evaluation.results.comparisons import with_statistics
from evaluation.results.facts import Truncation
from evaluation.results.types import Results
from evaluation.types import NO_STAGE, CellKey

NAMES = ("a", "b", "c")


@functools.cache
def _run(headline: str = HEADLINE, baseline: str | None = None, failed: bool = False) -> Results:  # noqa: FBT001, FBT002 - a key
    broken = {"x": "why"} if failed else None
    return simulated_results(names=NAMES, edges=(0.2, 0.0, -0.1), headline=headline, baseline=baseline, failed=broken)


def _view(**how: Any) -> View:
    (view,) = views(_run(**how))
    return view


def _points(value: float | None, *, signed: bool = False) -> str:
    return "–" if value is None else f"{100 * value:{'+' if signed else ''}.1f}".replace("-", "−")


def test_the_ranking_has_means_intervals_marks_and_sizes() -> None:
    """As shown and unrounded; a chunker without chunks of its own has dashes for them."""
    view = with_cell(_view(), "b", chunks={"count": 0, "mean_nws": 0.0, "p95_nws": 0.0})
    table = ranking_table(view)
    fair = ["recall@4000tok", "precision@4000tok"]
    assert table.header == ["chunker", HEADLINE, "95 % interval", "mark", *fair, "chunks", "mean size", "p95 size"]
    assert table.words == {0, 3}
    for row, cells, record in zip(view.rows, table.rows, table.data, strict=True):
        low, high = (row.part(HEADLINE, end) for end in ("low", "high"))
        sizes = [row.cell.chunks.count, row.cell.chunks.mean_nws, row.cell.chunks.p95_nws]
        assert cells == [
            row.chunker,
            _points(row.mean(HEADLINE)),
            f"{_points(low)} … {_points(high)}",
            row.mark,
            *(_points(row.mean(name)) for name in fair),
            *(f"{size:,.0f}" if size else "–" for size in sizes),
        ]
        assert record[HEADLINE] == row.mean(HEADLINE)
        assert (record[f"{HEADLINE} low"], record[f"{HEADLINE} high"]) == (low, high)
        assert [record[name] for name in ("chunks", "mean_nws", "p95_nws")] == sizes
        assert record["best_in"] == " ".join(name for name in view.fair if name in row.best_in)
    for place, row in enumerate(view.rows):
        marked = {table.header[column] for where, column in table.best if where == place}
        assert marked == row.best_in


def test_the_published_table_has_what_stands_behind_a_rank_and_chance() -> None:
    """Each score with that of a random ranking in brackets, where it is known."""
    view = with_cell(_view(), "b", judgements={"chance": {}, "tokens_at": {}, "uncovered_queries": 3})
    table = published_table(view)
    behind = ["chunks", "relevant per query", "tokens behind 5", "tokens behind 10", "uncovered"]
    assert table.header == ["chunker", *behind, "ndcg@5", "recall@5"]
    for row, cells, record in zip(view.rows, table.rows, table.data, strict=True):
        judged = row.cell.judgements
        tokens = [judged.tokens_at.get(k) for k in ("5", "10")]
        assert cells[1:6] == [
            f"{row.cell.chunks.count:,}",
            f"{judged.relevant_per_query:.1f}",
            *("–" if value is None else f"{value:,.0f}" for value in tokens),
            str(judged.uncovered_queries),
        ]
        for name, cell in zip(("ndcg@5", "recall@5"), cells[6:], strict=True):
            chance = judged.chance.get(name)
            assert cell == _points(row.mean(name)) + ("" if chance is None else f" ({_points(chance)})")
            assert record[name] == row.mean(name)
            assert record.get(f"{name} chance") == chance
        assert [record["tokens_behind_5"], record["tokens_behind_10"]] == tokens
        assert (record["uncovered_queries"], record["chunks"]) == (judged.uncovered_queries, row.cell.chunks.count)


def test_kinds_have_the_means_of_their_queries() -> None:
    """Each repository counts once, as in the whole; queries without a kind are the others; one kind is no table."""
    view = _view()
    assert group_table(view, "kind") is None
    queries = tuple(
        dataclasses.replace(query, kind=("comments", "", "commits")[k % 3 if k % 8 else 0])
        for k, query in enumerate(view.queries)
    )
    view = dataclasses.replace(view, queries=queries)
    table = group_table(view, "kind")
    assert table is not None
    groups = {
        name: [k for k, q in enumerate(queries) if (q.kind or "other") == name]
        for name in ("comments", "other", "commits")
    }
    assert table.header == ["chunker", *(f"{name} ({len(held)})" for name, held in groups.items())]
    for row, cells, record in zip(view.rows, table.rows, table.data, strict=True):
        for (name, held), cell in zip(groups.items(), cells[1:], strict=True):
            by_repository: dict[str, list[float]] = {}
            for k in held:
                by_repository.setdefault(queries[k].cluster, []).append(row.cell.scores[HEADLINE][k])
            mean = float(np.mean([np.mean(values) for values in by_repository.values()]))
            assert record[name] == pytest.approx(mean)
            assert cell == _points(record[name])
            assert record[f"{name} queries"] == len(held)
    bare = group_table(with_cell(view, "a", scores={}), "kind")
    assert bare is not None
    assert bare.rows[0][1:] == ["–"] * 3
    assert [each.title for each in group_tables(view)] == [f"{HEADLINE} by kind of query"]
    classes = tuple(dataclasses.replace(query, category=("api", "")[k % 2]) for k, query in enumerate(queries))
    both = group_tables(dataclasses.replace(view, queries=classes))
    assert [each.title for each in both] == [f"{HEADLINE} by {by} of query" for by in ("kind", "category")]
    assert both[1].header == ["chunker", "api (32)", "other (32)"]


def test_some_queries_are_summed_up_as_the_whole_is() -> None:
    """A median where that is the centre, None where half never get there; a mean over those with a value, else None."""
    values, clusters = np.array([1.0, 3.0, 8.0, np.nan]), np.array(["x", "x", "y", "y"])
    assert group_mean(_view(), values, clusters) == pytest.approx((2 + 8) / 2)
    assert group_mean(_view(), np.full(4, np.nan), clusters) is None
    median = _view(headline="tokens_to_recall(0.8)")
    assert group_mean(median, values[:3], clusters[:3]) == 3
    assert group_mean(median, np.array([1.0, np.nan, np.nan]), clusters[:3]) is None
    by_query = dataclasses.replace(_view(), config=_view().config.model_copy(update={"weight": "query"}))
    assert group_mean(by_query, values, clusters) == pytest.approx(4)


def test_every_comparison_is_a_row_with_its_numbers() -> None:
    """Differences and ends have signs; the answer names who is better; counts and the unit come last."""
    view = _view()
    table = comparison_table(view)
    names = "a,b,difference,95 % interval,answer,p,p alone,without one,can show,wins,ties,losses,unit".split(",")
    assert table.header == names
    assert table.words == {0, 1, 4, 12}
    assert len(table.rows) == len(view.comparisons) == 3
    for row, cells, record in zip(view.comparisons, table.rows, table.data, strict=True):
        assert cells[:5] == [
            row.a,
            row.b,
            _points(row.difference, signed=True),
            f"{_points(row.low, signed=True)} … {_points(row.high, signed=True)}",
            f"{row.better} is better" if row.better else row.decision,
        ]
        assert cells[7:] == [
            f"{_points(row.without_one_low, signed=True)} … {_points(row.without_one_high, signed=True)}",
            _points(row.detectable),
            *map(str, (row.wins, row.ties, row.losses)),
            row.unit,
        ]
        assert (record["p"], record["p_alone"], record["detectable"]) == (row.p, row.p_alone, row.detectable)
    first = dataclasses.replace(view.comparisons[0], p=0.00001, p_alone=0.0312)
    held = comparison_table(dataclasses.replace(view, comparisons=(first,)))
    assert held.rows[0][5:7] == ["< 0.0001", "0.031"]


def test_losses_and_failures_are_counted_for_each_chunker() -> None:
    """Dashes where nothing is cut off, none where nothing failed, and the seconds of all stages together."""
    view = with_cell(
        _view(),
        "b",
        chunks={"files": 1234, "fallbacks": {"no grammar": 1200}, "failed_files": {"x": "y"}, "lost_nws": 5},
        search={"truncated": Truncation(0.5, 0.126)},
        seconds={"chunk": 1.25, "embed": 2.5},
    )
    table = health_table(view)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["b"] == ["1,234", "x (y)", "no grammar: 1,200", "5", "0", "50.0 %", "12.6 %", "3.8"]
    assert rows["a"][1:7] == ["none", "none", "0", "0", "–", "–"]
    record = next(each for each in table.data if each["chunker"] == "b")
    assert (record["cut_chunks"], record["cut_tokens"], record["fallbacks"]) == (0.5, 0.126, 1200)
    assert (record["failed_files"], record["seconds"], record["fallback_reasons"]) == (1, 3.75, "no grammar")
    assert next(each for each in table.data if each["chunker"] == "a")["cut_chunks"] is None
    assert table.words == {0, 2, 3}
    assert table.values(0)[table.fields.index("chunker")] == view.rows[0].chunker


def test_a_spreadsheet_has_a_mark_beside_the_headline_only() -> None:
    """Each measure has its protocol; means and ends are those of the cell."""
    view = _view()
    header, rows = csv_rows([view])
    assert len(rows) == 3 * len(view.measures)
    for record in rows:
        row, measure = view.row(record["chunker"]), record["measure"]
        assert record["protocol"] == ("published" if measure in view.published else "fair")
        assert record["mark"] == (row.mark if measure == HEADLINE else "")
        assert [record[name] for name in ("mean", "low", "high")] == [
            row.part(measure, name) for name in ("mean", "low", "high")
        ]
        assert set(record) == set(header)


def test_a_row_that_lacks_a_field_has_nothing_there() -> None:
    """Fields are those of all rows together, in the order in which they appear."""
    table = Table("", ["x"], [["1"], ["2"]], [{"x": 1.0, "y": math.nan}, {"x": 2.0, "z": "w"}])
    assert table.fields == ["x", "y", "z"]
    assert [table.values(0), table.values(1)] == [[1.0, None, None], [2.0, None, "w"]]


def test_rows_are_from_best_to_worst_and_those_without_a_mean_last() -> None:
    """By the direction of the headline; equal means are in the order of names."""
    assert [row.chunker for row in _view().rows] == ["a", "b", "c"]
    assert [row.chunker for row in _view(headline="redundancy@4000tok").rows] == ["c", "b", "a"]
    for headline in (HEADLINE, "redundancy@4000tok"):
        results = _run(headline=headline)
        values = {"a": np.nan, "b": 0.5, "c": 0.5}
        cells = [
            dataclasses.replace(cell, scores={**cell.scores, headline: np.full(64, values[cell.key.chunker])})
            for cell in results.cells
        ]
        (view,) = views(with_statistics(dataclasses.replace(results, cells=tuple(cells))))
        assert [row.chunker for row in view.rows] == ["b", "c", "a"]
        assert [headline in row.best_in for row in view.rows] == [True, True, False]


def test_what_a_setting_is_called_depends_on_its_rows() -> None:
    """Chunkers, runs of places that others returned, or contestants where there are both."""
    view = _view(failed=True)
    assert view.noun == "chunker"
    others = CellKey("simulated", "places.jsonl", NO_STAGE, NO_STAGE)
    both = with_cell(view, "b", key=others)
    assert both.noun == "contestant"
    assert dataclasses.replace(both, rows=both.rows[1:2], failed=()).noun == "run"
    assert dataclasses.replace(both, rows=both.rows[1:2]).noun == "contestant"
    assert dataclasses.replace(view, rows=(), failed=()).noun == "chunker"
    assert Setting("d", "", "r").title == "d · r"
    assert Setting("d", "e", "r").title == "d · e · r"
    assert [cell.key.chunker for cell in view.failed] == ["x"]
    assert view.repositories == 8
    assert view.fair[0] == view.headline
    assert set(view.fair) | set(view.published) == set(view.measures)


def test_a_comparison_is_found_from_either_side() -> None:
    """Turned so that the first name is in front; None where it was not made."""
    view = _view()
    row = view.comparisons[0]
    assert find_pair(view.comparisons, row.a, row.b) is row
    turned = find_pair(view.comparisons, row.b, row.a)
    assert turned is not None
    assert (turned.a, turned.difference, turned.low) == (row.b, -row.difference, -row.high)
    assert find_pair(view.comparisons, "a", "nobody") is None


@pytest.mark.parametrize(
    ("low", "high", "mark"), [(0.1, 0.2, "▲"), (-0.2, -0.1, "▼"), (-0.01, 0.01, "≈"), (-0.1, 0.1, "?")]
)
def test_a_mark_against_the_baseline_is_the_answer_of_its_comparison(low: float, high: float, mark: str) -> None:
    """Better, worse, practically the same or undecided; the baseline is called so; no comparison, no mark."""
    results = _run(baseline="b")
    changed = tuple(
        dataclasses.replace(
            record,
            found=dataclasses.replace(
                record.found if record.found.a == "a" else record.found.turned(),
                low=low,
                high=high,
                difference=(low + high) / 2,
            ),
        )
        if {record.found.a, record.found.b} == {"a", "b"} and record.measure == HEADLINE
        else record
        for record in results.comparisons
    )
    (view,) = views(dataclasses.replace(results, comparisons=changed))
    assert (view.row("a").mark, view.row("b").mark) == (mark, "base")
    (none,) = views(dataclasses.replace(results, comparisons=()))
    assert {row.chunker: row.mark for row in none.rows} == {"a": "", "b": "base", "c": ""}
