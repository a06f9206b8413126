"""Figures of a setting hold the numbers of its cells, and are drawn only where there is something to see."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from typing import Any, get_args
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from report_case import BUDGETS, HEADLINE, simulated_results, with_cell

from evaluation.report.cost_figures import cost_figures
from evaluation.report.sections import (
    Figure,
    curve_figure,
    family_figure,
    forest_figure,
    group_panels,
    points_table,
    score_points,
    size_figure,
)
from evaluation.report.tables import Table, group_mean
from evaluation.report.view import View, views
from evaluation.results.types import Results
from evaluation.statistics import Weight, mean_interval
from evaluation.statistics.intervals import weighted_mean

NAMES = ("a", "b", "c")


@functools.cache
def _run(headline: str = HEADLINE, baseline: str | None = None, failed: bool = False) -> Results:  # noqa: FBT001, FBT002 - a key
    broken = {"x": "why"} if failed else None
    return simulated_results(names=NAMES, edges=(0.2, 0.0, -0.1), headline=headline, baseline=baseline, failed=broken)


def _view(**how: Any) -> View:
    (view,) = views(_run(**how))
    return view


def _summary(view: View, name: str, **values: Any) -> View:
    held = view.row(name).cell.measures
    return with_cell(view, name, measures={**held, view.headline: dataclasses.replace(held[view.headline], **values)})


def _points(value: float | None, *, signed: bool = False) -> str:
    return "–" if value is None else f"{100 * value:{'+' if signed else ''}.1f}".replace("-", "−")


def _column(table: Table, name: str) -> dict[str, str]:
    return {row[0]: row[table.header.index(name)] for row in table.rows}


def _numbers(figure: Figure | None, kind: str = "whisker") -> int:
    assert figure is not None
    root = ET.fromstring(figure.wide)  # noqa: S314 - our own drawing
    return sum(kind in each.get("class", "").split() for each in root.iter())


def test_differences_are_drawn_from_the_best_or_the_baseline() -> None:
    """Every other chunker that was compared with it, as shown in the comparison; hollow where nothing is shown."""
    for how, reference in (({}, "a"), ({"baseline": "b"}, "b")):
        view = _view(**how)
        figure = forest_figure(view)
        assert figure is not None
        others = [row.chunker for row in view.rows if row.chunker != reference]
        assert [row[0] for row in figure.table.rows] == others
        for cells, record in zip(figure.table.rows, figure.table.data, strict=True):
            found = view.comparison(cells[0], reference)
            assert found is not None
            assert cells[1] == _points(found.difference, signed=True)
            assert cells[2] == f"{_points(found.low, signed=True)} … {_points(found.high, signed=True)}"
            assert cells[3] == (f"{found.better} is better" if found.better else found.decision)
            assert (record["difference"], record["low"], record["against"]) == (found.difference, found.low, reference)
            word = found.decision if not found.better else "better" if found.better == cells[0] else "worse"
            assert f">{cells[1]}, {word}<" in figure.wide
        assert f"from {reference}, in points," in figure.caption
        assert figure.table.words == {0, 3}
    view = _view()
    assert forest_figure(dataclasses.replace(view, comparisons=())) is None
    unknown = tuple(dataclasses.replace(row, low=math.nan, high=math.nan) for row in view.comparisons)
    assert forest_figure(dataclasses.replace(view, comparisons=unknown)) is None
    one = tuple(lost if "b" in (lost.a, lost.b) else row for lost, row in zip(unknown, view.comparisons, strict=True))
    figure = forest_figure(dataclasses.replace(view, comparisons=one))
    assert figure is not None
    assert [row[0] for row in figure.table.rows] == ["c"]
    elsewhere = dataclasses.replace(view, config=view.config.model_copy(update={"baseline": "nobody"}))
    assert forest_figure(elsewhere) is not None


@pytest.mark.parametrize("weight", get_args(Weight))
def test_recall_at_each_budget_counts_what_the_scores_count(weight: Weight) -> None:
    """In the figure, the terminal and the cautions, each repository or each query counts once, as in the table."""
    run = _run()
    queries = tuple(
        dataclasses.replace(query, cluster="r" if k > 5 else f"r{k}") for k, query in enumerate(run.queries)
    )
    config = run.config.model_copy(update={"weight": weight})
    results = dataclasses.replace(run, queries=queries, config=config)
    (view,) = views(results)
    figure = curve_figure(view, results)
    assert figure is not None
    clusters = [query.cluster for query in queries]
    for row, record in zip(view.rows, figure.table.data, strict=True):
        assert row.cell.curve is not None
        means = [weighted_mean(column, clusters, weight=weight) for column in row.cell.curve.T]
        assert list(row.curve) == pytest.approx(means)
        assert [record[str(budget)] for budget in BUDGETS] == pytest.approx(means)


def test_curves_are_the_means_of_recall_at_each_budget() -> None:
    """Intervals respect repositories and stay between nothing and everything; a chunker without a curve has none."""
    view, results = _view(), _run()
    figure = curve_figure(view, results)
    assert figure is not None
    assert figure.table.header == ["chunker", *(f"{budget:,}" for budget in BUDGETS)]
    clusters = [query.cluster for query in view.queries]
    for row, cells, record in zip(view.rows, figure.table.rows, figure.table.data, strict=True):
        assert row.cell.curve is not None
        means = [mean_interval(column, clusters).mean for column in row.cell.curve.T]
        assert cells == [row.chunker, *(f"{100 * mean:.1f}" for mean in means)]
        assert [record[str(budget)] for budget in BUDGETS] == means
    assert _numbers(figure, "band") == 3
    (line,) = re.findall(r'<line x1="([\d.]+)"[^>]*dashed', figure.wide)
    scale = (820 - 232 - 40) / BUDGETS[-1]
    assert float(line) == pytest.approx(40 + 4000 * scale, abs=0.1)
    two = curve_figure(with_cell(view, "b", curve=None), results)
    assert two is not None
    assert [row[0] for row in two.table.rows] == ["a", "c"]
    none = functools.reduce(lambda held, name: with_cell(held, name, curve=None), NAMES, view)
    assert curve_figure(none, results) is None
    plain = dataclasses.replace(view, headline="file_rr")
    without = curve_figure(plain, results)
    assert without is not None
    assert "dashed" not in without.wide


def test_bands_stay_between_nothing_and_everything() -> None:
    """Also where few repositories give a wide interval, or none: then the band is the line."""
    results = simulated_results(names=("a",), edges=(0.0,), queries=8)
    (view,) = views(results)
    for column, ends in ((np.array([0.2, *[1.0] * 7]), 1), (np.array([0.8, *[0.0] * 7]), 0)):
        curve = np.tile(column[:, None], (1, len(BUDGETS)))
        held = with_cell(view, "a", curve=curve)
        figure = curve_figure(held, results)
        assert figure is not None
        (band,) = re.findall(r'<path d="([^"]*)" class="band', figure.wide)
        heights = [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", band)]
        assert 14 - 0.1 <= min(heights) <= max(heights) <= 374 + 0.1
        assert (min(heights) == pytest.approx(14)) if ends else (max(heights) == pytest.approx(374))
    (alone,) = views(simulated_results(names=("a",), edges=(0.0,), queries=1, repositories=1))
    figure = curve_figure(alone, simulated_results(names=("a",), edges=(0.0,), queries=1, repositories=1))
    assert figure is not None
    assert "nan" not in figure.wide


@pytest.mark.parametrize(("largest", "drawn"), [(109.9, False), (110.1, True), (250.0, True)])
def test_scores_are_drawn_against_sizes_that_differ_by_a_tenth(largest: float, drawn: bool) -> None:  # noqa: FBT001 - parametrized
    """Where sizes were matched there is nothing to see."""
    view = _view()
    for name, size in zip(NAMES, (100.0, largest, 100.0), strict=True):
        view = with_cell(view, name, chunks={"mean_nws": size})
    figure = family_figure(view)
    assert (figure is not None) == drawn
    if figure:
        assert figure.table.header == ["chunker", "mean size", HEADLINE, "95 % interval"]
        assert _column(figure.table, "mean size")["b"] == f"{largest:.0f}"


def test_a_point_has_the_score_and_interval_of_its_chunker() -> None:
    """In points; what is not above zero or has no mean has no point; where there is no interval it is the mean."""
    view = _summary(_view(), "c", low=None, high=None)
    points = score_points(view, {"a": 3.0, "b": 0.0, "c": 250.0})
    assert [(point.name, point.x) for point in points] == [("a", 3.0), ("c", 250.0)]
    row = view.row("a")
    assert [points[0].mean, points[0].low, points[0].high] == pytest.approx(
        [100 * (row.part(HEADLINE, name) or 0.0) for name in ("mean", "low", "high")]
    )
    assert points[1].low == points[1].high == points[1].mean
    assert score_points(view, {}) == []
    assert [p.name for p in score_points(_summary(view, "a", mean=None), {"a": 3.0, "c": 1.0})] == ["c"]
    table = points_table(view, [points[0], points[1]._replace(x=100.0), points[1]._replace(x=99.994)], "cost")
    assert [cells[1] for cells in table.rows] == ["3.00", "100", "99.99"]
    assert [cells[2] for cells in table.rows[:1]] == [_points(row.mean(HEADLINE))]
    assert table.rows[0][3] == f"{_points(row.part(HEADLINE, 'low'))} … {_points(row.part(HEADLINE, 'high'))}"
    assert table.data[0] == {
        "chunker": "a",
        "cost": 3.0,
        HEADLINE: row.mean(HEADLINE),
        f"{HEADLINE} low": row.part(HEADLINE, "low"),
        f"{HEADLINE} high": row.part(HEADLINE, "high"),
    }


def test_sizes_are_drawn_for_those_that_have_them() -> None:
    """A tool makes no chunks: it has no histogram and no row."""
    view = _view()
    figure = size_figure(view)
    assert figure is not None
    chunks = view.row("a").cell.chunks
    assert figure.table.rows[0] == [
        "a",
        *(
            f"{value:,.0f}"
            for value in (chunks.count, chunks.mean_nws, chunks.median_nws, chunks.p95_nws, chunks.mean_tokens)
        ),
    ]
    bare = dataclasses.replace(chunks.sizes, edges=(), counts=())
    some = size_figure(with_cell(view, "a", chunks={"sizes": bare}))
    assert some is not None
    assert [row[0] for row in some.table.rows] == ["b", "c"]
    none = functools.reduce(lambda held, name: with_cell(held, name, chunks={"sizes": bare}), NAMES, view)
    assert size_figure(none) is None


def test_groups_are_panels_on_one_axis_with_the_largest_first() -> None:
    """Equal ones by name; each mean is that of its queries; beyond the first 24 the table has the rest."""
    view = _view()
    labels = ["one" if k < 10 else "two" if k < 20 else "big" for k in range(64)]
    panels = group_panels(view, labels, title="kind")
    assert panels is not None
    assert [name for name, _ in panels.drawings] == ["big (44)", "one (10)", "two (10)"]
    assert panels.table.header == ["kind", "queries", *(row.chunker for row in view.rows)]
    assert "No test is made on single groups." in panels.caption
    for cells, record in zip(panels.table.rows, panels.table.data, strict=True):
        members = [k for k, label in enumerate(labels) if label == cells[0]]
        assert cells[1] == str(len(members)) == str(record["queries"])
        clusters = np.array([view.queries[k].cluster for k in members])
        for row, cell in zip(view.rows, cells[2:], strict=True):
            mean = group_mean(view, row.cell.scores[HEADLINE][members], clusters)
            assert record[row.chunker] == pytest.approx(mean)
            assert cell == _points(mean)
    assert group_panels(view, ["x"] * 64, title="kind") is None
    bare = group_panels(with_cell(view, "b", scores={}), labels, title="kind")
    assert bare is not None
    assert _column(bare.table, "b") == {"big": "–", "one": "–", "two": "–"}
    assert group_panels(view, [f"g{k % 24:02}" for k in range(64)], title="x") is not None
    full = group_panels(view, [f"g{k % 24:02}" for k in range(64)], title="x")
    many = group_panels(view, [f"g{k % 26:02}" for k in range(64)], title="x")
    assert full is not None
    assert many is not None
    assert (len(full.drawings), len(many.drawings)) == (24, 24)
    assert "The table has" not in full.caption
    assert "The table has 2 more." in many.caption
    assert len(many.table.rows) == 26


def test_panels_share_an_axis_from_nothing_to_the_best_mean() -> None:
    """The largest mean of all panels ends the axis, one point at least; below zero it begins at the least."""
    view = _view()
    labels = ["one" if k < 32 else "two" for k in range(64)]

    def ends(values: float) -> set[tuple[str, ...]]:
        held = functools.reduce(lambda v, n: with_cell(v, n, scores={HEADLINE: np.full(64, values)}), NAMES, view)
        panels = group_panels(held, labels, title="x")
        assert panels is not None
        return {
            tuple(re.findall(r'class="tick" text-anchor="middle">([^<]*)<', drawing)) for _, drawing in panels.drawings
        }

    assert ends(0.8) == {("0", "20", "40", "60", "80")}
    assert ends(0.001) == {("0", "0.25", "0.5", "0.75", "1")}
    ((first, *_, last),) = ends(-0.5)
    assert (float(first), float(last)) == (-40, 0) or float(first) == -50


def test_each_figure_has_a_wide_and_a_narrow_drawing() -> None:
    """The style of the page shows the one that fits."""
    view, results = _view(), _run()
    figures = [forest_figure(view), curve_figure(view, results), family_figure(view), size_figure(view)]
    figures += [figure for _, figure in cost_figures(view)]
    assert len(figures) >= 5
    for figure in figures:
        assert figure is not None
        widths = [ET.fromstring(each).get("width") for each in (figure.wide, figure.narrow)]  # noqa: S314 - our own drawing
        assert widths == ["820", "340"]
