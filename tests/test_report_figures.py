"""Figures: a mark stands where its value is, nothing leaves the drawing, and each drawing is as it was approved."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from markupsafe import Markup

from evaluation.report.figures.curves import Curve, curves
from evaluation.report.figures.forest import Difference, forest
from evaluation.report.figures.multiples import ROWS, Panel, panel
from evaluation.report.figures.scatter import Point, scatter
from evaluation.report.figures.sizes import Sizes, sizes

APPROVED = Path(__file__).parent / "fixtures" / "figures"
BUDGETS = (250, 1000, 4000)
CURVES = [
    Curve(0, "cast:size=2000", [0.2, 0.45, 0.8], [0.15, 0.4, 0.75], [0.25, 0.5, 0.85]),
    Curve(1, "fixed-lines:lines=50", [0.1, 0.4, 0.79], [0.05, 0.35, 0.7], [0.15, 0.45, 0.84]),
    Curve(9, "a-chunker-with-a-very-long-name:size=1000,overlap=5", [0.0, 0.1, 0.3], [0.0, 0.0, 0.2], [0.1, 0.2, 0.4]),
]
DIFFERENCES = [
    Difference(1, "fixed-lines:lines=50", -1.5, -4.0, 1.0, shown=False, note="p = 0.2"),
    Difference(2, "a-chunker-with-a-very-long-name:size=1000", -8.0, -12.0, -4.0, shown=True, note="p = 0.001"),
    Difference(0, "cast:size=2000", 3.0, 1.0, 5.0, shown=True, note="p = 0.01"),
]
POINTS = [
    Point(0, "cast:size=2000", 1500.0, 60.0, 55.0, 65.0),
    Point(1, "fixed-lines:lines=50", 150.0, 50.0, 42.0, 58.0),
    Point(2, "whole-file", 12_000.0, 20.0, 15.0, 25.0),
]
EDGES = (0.0, 16.0, 32.0, 64.0, 128.0, None)
SIZES = [
    Sizes(0, "cast:size=2000", EDGES, (0, 3, 12, 6, 0)),
    Sizes(1, "fixed-lines:lines=50", EDGES, (0, 0, 1, 400, 0)),
]
PANEL = Panel("repo1", 12, [60.0, None, 40.0, 50.0, 10.0, 20.0, 30.0, 35.0, 99.0])
DRAWN = {
    **{
        f"curves-{n}": curves(CURVES, BUDGETS, unit="tokens", headline_budget=1000, narrow=n == "narrow")
        for n in ("wide", "narrow")
    },
    **{
        f"forest-{n}": forest(DIFFERENCES, reference="whole-file", unit="points", narrow=n == "narrow")
        for n in ("wide", "narrow")
    },
    **{f"scatter-{n}": scatter(POINTS, measure="naurc@4000tok", narrow=n == "narrow") for n in ("wide", "narrow")},
    **{f"sizes-{n}": sizes(SIZES, unit="nws", narrow=n == "narrow") for n in ("wide", "narrow")},
    "panel": panel(PANEL, domain=(0.0, 80.0)),
}


def _elements(drawing: Markup, tag: str, kind: str = "") -> list[ET.Element]:
    found = ET.fromstring(drawing).iter(tag)  # noqa: S314 - our own drawing
    return [each for each in found if not kind or kind in each.get("class", "").split()]


def _badges(drawing: Markup) -> dict[int, tuple[float, float]]:
    """Return place → where its numbered disc is."""
    found = {}
    for group in _elements(drawing, "g", "badge"):
        circle, words = group.find("circle"), group.find("text")
        assert circle is not None
        assert words is not None
        found[int(words.text or "") - 1] = (float(circle.get("cx", "")), float(circle.get("cy", "")))
    return found


def _is_affine(values: list[float], pixels: list[float], *, rises: bool) -> bool:
    slope, offset = np.polyfit(values, pixels, 1)
    return (slope > 0) == rises and np.allclose(np.array(values) * slope + offset, pixels, atol=0.05)


@pytest.mark.parametrize("name", DRAWN)
def test_each_drawing_is_as_it_was_approved(name: str) -> None:
    """After a change that was looked at, `python tests/test_report_figures.py` draws them again."""
    assert str(DRAWN[name]) + "\n" == (APPROVED / f"{name}.svg").read_text("utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_leaves_the_drawing(name: str) -> None:
    """Every coordinate of a line, disc, bar or path lies inside the box."""
    drawing = DRAWN[name]
    root = ET.fromstring(drawing)  # noqa: S314 - our own drawing
    width, height = map(float, root.get("viewBox", "").split()[2:])
    across = [float(each.get(key, "")) for each in root.iter() for key in ("x", "x1", "x2", "cx") if each.get(key)]
    down = [float(each.get(key, "")) for each in root.iter() for key in ("y", "y1", "y2", "cy") if each.get(key)]
    for path in root.iter("path"):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d", ""))]
        across, down = across + numbers[::2], down + numbers[1::2]
    assert 0 <= min(across) <= max(across) <= width
    assert 0 <= min(down) <= max(down) <= height
    for bar in root.iter("rect"):
        assert float(bar.get("x", "")) + float(bar.get("width", "")) <= width
        assert float(bar.get("y", "")) + float(bar.get("height", "")) <= height


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_a_difference_stands_at_its_value(kind: str) -> None:
    """Marks, whiskers and the line at zero share one axis; what is not shown is hollow."""
    drawing = DRAWN[f"forest-{kind}"]
    badges = _badges(drawing)
    values = [row.difference for row in DIFFERENCES]
    pixels = [badges[row.place][0] for row in DIFFERENCES]
    whiskers = _elements(drawing, "line", "whisker")
    (zero,) = _elements(drawing, "line", "zero")
    values += [0.0, *(row.low for row in DIFFERENCES), *(row.high for row in DIFFERENCES)]
    pixels += [
        float(zero.get("x1", "")),
        *(float(w.get("x1", "")) for w in whiskers),
        *(float(w.get("x2", "")) for w in whiskers),
    ]
    assert _is_affine(values, pixels, rises=True)
    hollow = list(_elements(drawing, "g", "hollow"))
    assert len(hollow) == 1
    rows = [badges[row.place][1] for row in DIFFERENCES]
    assert rows == sorted(rows)
    assert len({round(b - a, 3) for a, b in itertools.pairwise(rows)}) == 1


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_a_curve_passes_through_its_values(kind: str) -> None:
    """It begins at nothing read and nothing found; up is more; only the leading curves have a band."""
    drawing = DRAWN[f"curves-{kind}"]
    lines = [re.findall(r"[ML]([\d.]+) ([\d.]+)", each.get("d", "")) for each in _elements(drawing, "path", "line")]
    for row, points in zip(reversed(CURVES), lines, strict=True):
        assert _is_affine([0.0, *BUDGETS], [float(x) for x, _ in points], rises=True)
        assert _is_affine([0.0, *row.mean], [float(y) for _, y in points], rises=False)
    assert len(_elements(drawing, "path", "band")) == 2
    (budget,) = _elements(drawing, "line", "dashed")
    assert float(budget.get("x1", "")) == pytest.approx(float(lines[0][2][0]), abs=0.1)
    ends = sorted(y for _, y in _badges(drawing).values())
    assert all(b - a >= 19 - 1e-6 for a, b in itertools.pairwise(ends))


def test_a_budget_beyond_the_curve_has_no_line() -> None:
    """At the last budget there is one still."""
    for budget, count in ((None, 0), (4000, 1), (4001, 0)):
        drawing = curves(CURVES, BUDGETS, unit="tokens", headline_budget=budget)
        assert len(_elements(drawing, "line", "dashed")) == count


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_a_point_stands_at_its_size_and_score(kind: str) -> None:
    """Sizes are on a logarithmic axis, scores on a plain one that goes up."""
    badges = _badges(DRAWN[f"scatter-{kind}"])
    assert _is_affine([math.log(p.size) for p in POINTS], [badges[p.place][0] for p in POINTS], rises=True)
    assert _is_affine([p.mean for p in POINTS], [badges[p.place][1] for p in POINTS], rises=False)
    labels = [each.text for each in _elements(DRAWN[f"scatter-{kind}"], "text", "halo")]
    assert sorted(filter(None, labels)) == (sorted(p.name for p in POINTS) if kind == "wide" else [])


def test_bars_are_as_tall_as_their_counts_and_empty_ends_are_left_out() -> None:
    """Each histogram has its own scale; a single chunk beside four hundred is still seen."""
    drawing = DRAWN["sizes-wide"]
    bars = [[float(each.get("height", "")) for each in _elements(drawing, "rect", f"s{place}")] for place in range(2)]
    assert bars[0] == pytest.approx([34 * 3 / 12, 34, 34 * 6 / 12], abs=0.01)
    assert bars[1] == [1.0, 34.0]
    ticks = [each.text for each in _elements(drawing, "text", "tick")]
    assert ticks == ["16", "32", "64", "128", "nws"]
    lefts = [float(each.get("x", "")) for each in _elements(drawing, "rect", "s0")]
    assert lefts[0] == 250
    assert _is_affine([0, 1, 2], lefts, rises=True)


def test_a_panel_shows_the_leading_chunkers_on_the_shared_axis() -> None:
    """Those without a score have no mark, and those beyond the first few are in the table only."""
    badges = _badges(DRAWN["panel"])
    assert set(badges) == {0, 2, 3, 4, 5, 6, 7}
    assert len(PANEL.means) > ROWS
    assert _is_affine([PANEL.means[k] or 0.0 for k in badges], [x for x, _ in badges.values()], rises=True)
    assert _is_affine(list(map(float, badges)), [y for _, y in badges.values()], rises=True)


def _approve() -> None:
    APPROVED.mkdir(exist_ok=True)
    for name, drawing in DRAWN.items():
        (APPROVED / f"{name}.svg").write_text(str(drawing) + "\n", "utf-8")


if __name__ == "__main__":
    _approve()
