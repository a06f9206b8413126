"""The figures and tables of one setting, built from its view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from evaluation.report.figures.curves import Curve, curves
from evaluation.report.figures.families import families
from evaluation.report.figures.forest import Difference, forest
from evaluation.report.figures.multiples import Panel, panel
from evaluation.report.figures.plane import Point
from evaluation.report.figures.sizes import Sizes, sizes
from evaluation.report.formats import number, p_value, scale, score, span, unit_words
from evaluation.report.tables import Table, group_mean
from evaluation.report.view import Row, View
from evaluation.results.types import Results
from evaluation.statistics import mean_interval

MOST_PANELS = 24
_SIZES_APART = 1.1
"""Ratio of the largest to the smallest mean size above which the score is plotted against size."""


@dataclass(frozen=True)
class Figure:
    """A drawing for wide screens and one for narrow ones, the caption, and the same numbers as a table."""

    wide: Markup
    narrow: Markup
    caption: str
    table: Table


@dataclass(frozen=True)
class Panels:
    """Small multiples over one way of grouping the queries."""

    title: str
    drawings: list[tuple[str, Markup]]
    caption: str
    table: Table


def forest_figure(view: View) -> Figure | None:
    """Return the differences from the baseline, or from the best if there is none."""
    if not view.comparisons:
        return None
    reference = view.baseline if view.baseline in {row.chunker for row in view.rows} else view.rows[0].chunker
    factor = scale(view.headline)
    rows, cells, data = [], [], []
    for row in view.rows:
        found = view.comparison(row.chunker, str(reference))
        if found is None or np.isnan(found.low):
            continue
        difference, low, high = (factor * getattr(found, name) for name in ("difference", "low", "high"))
        said = score(view.headline, found.difference, signed=True)
        answer = f"{found.better} is better" if found.better else found.decision
        verdict = ("better" if found.better == row.chunker else "worse") if found.better else found.decision
        note = f"{said}, {verdict}"
        rows.append(
            Difference(view.marks[row.chunker], row.chunker, difference, low, high, shown=found.shown, note=note)
        )
        interval = span(view.headline, found.low, found.high, signed=True)
        cells.append([row.chunker, said, interval, answer, p_value(found.p)])
        held = {name: getattr(found, name) for name in ("difference", "low", "high", "better", "decision", "p")}
        data.append({"chunker": row.chunker, "against": reference, "measure": view.headline, **held})
    if not rows:
        return None
    caption = (
        f"Difference in {view.headline} from {reference}, in {unit_words(view.headline) or 'its unit'}, with 95 % "
        "intervals, corrected for all comparisons; a hollow mark means that no difference is shown."
    )
    table = Table("", ["chunker", "difference", "95 % interval", "answer", "corrected p"], cells, data, words={0, 3})
    wide, narrow = (
        forest(rows, reference=str(reference), unit=unit_words(view.headline), narrow=narrow)
        for narrow in (False, True)
    )
    return Figure(wide, narrow, caption, table)


def curve_figure(view: View, results: Results) -> Figure | None:
    """Return recall against budget, with intervals that respect repositories."""
    budgets = results.budgets
    clusters = [query.cluster for query in view.queries]
    rows = []
    for row in view.rows:
        if row.cell.curve is None:
            continue
        found = [mean_interval(column, clusters, weight=view.config.weight) for column in row.cell.curve.T]
        low = [f.mean if np.isnan(f.low) else f.low for f in found]
        high = [f.mean if np.isnan(f.high) else f.high for f in found]
        rows.append(Curve(view.marks[row.chunker], row.chunker, [f.mean for f in found], low, high))
    if not rows or not budgets:
        return None
    text = [[row.name, *(f"{100 * value:.1f}" for value in row.mean)] for row in rows]
    data = [{"chunker": row.name, **dict(zip(map(str, budgets), row.mean, strict=True))} for row in rows]
    table = Table("", ["chunker", *(f"{budget:,}" for budget in budgets)], text, data)
    caption = (
        f"Share of the gold text that has been read after so many {results.budget_unit}, in points. Bands are 95 % "
        "intervals of the three leading chunkers' means; overlapping bands do not mean that no difference is shown, "
        "because the test pairs the queries."
    )
    digits = "".join(c for c in view.headline.partition("@")[2] if c.isdigit())
    budget = int(digits) if digits else None
    wide, narrow = (
        curves(rows, budgets, unit=results.budget_unit, headline_budget=budget, narrow=narrow)
        for narrow in (False, True)
    )
    return Figure(wide, narrow, caption, table)


def family_figure(view: View) -> Figure | None:
    """Return the headline score against the mean chunk size; None if the sizes were matched."""
    points = score_points(view, {row.chunker: row.cell.chunks.mean_nws for row in view.rows})
    if not points or max(point.x for point in points) < _SIZES_APART * min(point.x for point in points):
        return None
    table = points_table(view, points, "mean size")
    caption = (
        "A line joins the sizes of one family, and its band is their 95 % intervals. If the score only follows the "
        "size of the chunks, a plain chunker of the right size would do as well. Marks that would cover each other "
        "stand side by side."
    )
    wide, narrow = (families(points, measure=view.headline, narrow=narrow) for narrow in (False, True))
    return Figure(wide, narrow, caption, table)


def score_points(view: View, places: Mapping[str, float]) -> list[Point]:
    """Return each chunker's headline score as shown, against its value on an axis; non-positive values are left out."""
    factor = scale(view.headline)
    points = []
    for row in view.rows:
        x, mean = places.get(row.chunker, 0.0), row.mean(view.headline)
        if x > 0 and mean is not None:
            low, high = (row.part(view.headline, name) for name in ("low", "high"))
            edges = (mean if low is None else low, mean if high is None else high)
            values = (factor * mean, factor * edges[0], factor * edges[1])
            points.append(Point(view.marks[row.chunker], row.chunker, float(x), *values))
    return points


def points_table(view: View, points: Sequence[Point], across: str) -> Table:
    """Return the points as a table."""
    factor = scale(view.headline)
    text = [
        [
            p.name,
            number(p.x, digits=0 if p.x >= 100 else 2),
            score(view.headline, p.mean / factor),
            span(view.headline, p.low / factor, p.high / factor),
        ]
        for p in points
    ]
    ends = ("low", "high")
    data = [
        {
            "chunker": p.name,
            across: p.x,
            view.headline: view.row(p.name).mean(view.headline),
            **{f"{view.headline} {end}": view.row(p.name).part(view.headline, end) for end in ends},
        }
        for p in points
    ]
    return Table("", ["chunker", across, view.headline, "95 % interval"], text, data)


def size_figure(view: View) -> Figure | None:
    """Return the distribution of chunk sizes."""
    rows = []
    for row in view.rows:
        held = row.cell.chunks.sizes
        if held.counts:
            rows.append(Sizes(view.marks[row.chunker], row.chunker, list(held.edges), list(held.counts)))
    if not rows:
        return None
    keys = ("count", "mean_nws", "median_nws", "p95_nws", "mean_tokens")
    drawn = {held.name for held in rows}
    data = [
        {"chunker": row.chunker, **{key: getattr(row.cell.chunks, key) for key in keys}}
        for row in view.rows
        if row.chunker in drawn
    ]
    text = [[str(each["chunker"]), *(number(each[key], digits=0) for key in keys)] for each in data]
    table = Table("", ["chunker", "chunks", "mean nws", "median nws", "p95 nws", "mean tokens"], text, data)
    caption = "Non-whitespace characters (nws) of a chunk; each histogram is scaled to its own tallest bar."
    unit = "non-whitespace characters of a chunk"
    wide, narrow = (sizes(rows, unit=unit, narrow=narrow) for narrow in (False, True))
    return Figure(wide, narrow, caption, table)


def group_panels(view: View, labels: Sequence[str], *, title: str) -> Panels | None:
    """Return a panel per group of queries, largest group first; None if there is only one group."""
    groups: dict[str, list[int]] = {}
    for k, label in enumerate(labels):
        groups.setdefault(label, []).append(k)
    if len(groups) < 2:
        return None
    factor = scale(view.headline)
    panels, data = [], []
    for name, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        means = [_mean(view, row, members) for row in view.rows]
        shown = [None if mean is None else factor * mean for mean in means]
        drawn = [view.marks[row.chunker] for row in view.rows]
        panels.append(Panel(name, len(members), list(zip(drawn, shown, strict=True))))
        by_chunker = {row.chunker: mean for row, mean in zip(view.rows, means, strict=True)}
        data.append({title: name, "queries": len(members), "measure": view.headline, **by_chunker})
    values = [mean for one in panels for _, mean in one.means if mean is not None]
    domain = (min([0.0, *values]), max([*values, 1.0]))
    drawings = [(f"{one.name} ({one.queries})", panel(one, domain=domain)) for one in panels[:MOST_PANELS]]
    text = [
        [
            one.name,
            str(one.queries),
            *(score(view.headline, None if mean is None else mean / factor) for _, mean in one.means),
        ]
        for one in panels
    ]
    table = Table("", [title, "queries", *(row.chunker for row in view.rows)], text, data)
    left_out = len(panels) - len(drawings)
    caption = f"Mean {view.headline} of the leading chunkers; the number of queries is in brackets. " + (
        f"The table has {left_out} more." if left_out else "No test is made on single groups."
    )
    return Panels(title, drawings, caption, table)


def _mean(view: View, row: Row, members: Sequence[int]) -> float | None:
    values = row.cell.scores.get(view.headline)
    clusters = np.array([view.queries[k].cluster for k in members])
    return None if values is None else group_mean(view, values[list(members)], clusters)
