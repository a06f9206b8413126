"""Figures: a mark stands where its value is, nothing leaves the drawing, and each drawing is as it was approved."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evaluation.report.figures import svg
from evaluation.report.figures.curves import Curve, curves
from evaluation.report.figures.families import families
from evaluation.report.figures.forest import Difference, forest
from evaluation.report.figures.frontier import cost_figure, frontier
from evaluation.report.figures.labels import Label, beside
from evaluation.report.figures.marks import COLOURS, SHAPES, Mark, family, marks
from evaluation.report.figures.multiples import ROWS, Panel, panel
from evaluation.report.figures.plane import Point, apart
from evaluation.report.figures.sizes import Sizes, sizes

APPROVED = Path(__file__).parent / "fixtures" / "figures"
BUDGETS = (250, 1000, 4000)
MARKS = [Mark(k + 1, k % COLOURS, k % SHAPES) for k in range(10)]
CURVES = [
    Curve(MARKS[0], "cast:size=2000", [0.2, 0.45, 0.8], [0.15, 0.4, 0.75], [0.25, 0.5, 0.85]),
    Curve(MARKS[1], "fixed-lines:lines=50", [0.1, 0.4, 0.79], [0.05, 0.35, 0.7], [0.15, 0.45, 0.84]),
    Curve(MARKS[3], "fixed-nws:size=1500", [0.05, 0.2, 0.5], [0.0, 0.1, 0.4], [0.1, 0.3, 0.6]),
    Curve(MARKS[9], "a-very-long-name:size=1000,overlap=5,x=1", [0.0, 0.1, 0.3], [0.0, 0.0, 0.2], [0.1, 0.2, 0.4]),
]
DIFFERENCES = [
    Difference(MARKS[1], "fixed-lines:lines=50", -1.5, -4.0, 1.0, shown=False, note="p = 0.2"),
    Difference(MARKS[2], "a-chunker-with-a-very-long-name:size=1000", -8.0, -12.0, -4.0, shown=True, note="p = 0.001"),
    Difference(MARKS[0], "cast:size=2000", 3.0, 1.0, 5.0, shown=True, note="p = 0.01"),
]
POINTS = [
    Point(MARKS[0], "cast:size=2000", 1500.0, 60.0, 55.0, 65.0),
    Point(MARKS[5], "cast:size=500", 400.0, 52.0, 47.0, 57.0),
    Point(MARKS[1], "fixed-lines:lines=50", 150.0, 50.0, 42.0, 58.0),
    Point(MARKS[2], "whole-file", 12_000.0, 20.0, 15.0, 25.0),
]
EDGES = (0.0, 16.0, 32.0, 64.0, 128.0, None)
SIZES = [
    Sizes(MARKS[0], "cast:size=2000", EDGES, (0, 3, 12, 6, 0)),
    Sizes(MARKS[1], "fixed-lines:lines=50", EDGES, (0, 0, 1, 400, 0)),
]
MEANS = [60.0, None, 40.0, 50.0, 10.0, 20.0, 30.0, 35.0, 99.0]
PANEL = Panel("repo1", 12, list(zip(MARKS, MEANS, strict=False)))
DRAWN = {
    **{
        f"curves-{n}": curves(CURVES, BUDGETS, unit="tokens", headline_budget=1000, narrow=n == "narrow")
        for n in ("wide", "narrow")
    },
    **{
        f"forest-{n}": forest(DIFFERENCES, reference="whole-file", unit="points", narrow=n == "narrow")
        for n in ("wide", "narrow")
    },
    **{f"families-{n}": families(POINTS, measure="naurc@4000tok", narrow=n == "narrow") for n in ("wide", "narrow")},
    **{
        f"cost-{n}": cost_figure(POINTS, cost="tokens indexed", measure="naurc@4000tok", narrow=n == "narrow")
        for n in ("wide", "narrow")
    },
    **{f"sizes-{n}": sizes(SIZES, unit="nws", narrow=n == "narrow") for n in ("wide", "narrow")},
    "panel": panel(PANEL, domain=(0.0, 80.0)),
}


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), max_size=4))
def test_marks_that_would_cover_each_other_stand_side_by_side(spots: list[tuple[float, float]]) -> None:
    """Up to four of them are seen whole, at their own heights and at most three marks away; others do not move."""
    found = apart(spots)
    assert [y for _, y in found] == [y for _, y in spots]
    assert all(abs(new[0] - old[0]) <= 36 for new, old in zip(found, spots, strict=True))
    if len(spots) == 2 and (abs(spots[0][0] - spots[1][0]) > 12 or abs(spots[0][1] - spots[1][1]) > 12):
        assert [x for x, _ in found] == pytest.approx([x for x, _ in spots])
    if len({y for _, y in spots}) == 1:
        places = sorted(x for x, _ in found)
        assert all(right - left >= 8.9 for left, right in itertools.pairwise(places))


def _elements(drawing: Markup, tag: str, kind: str = "") -> list[ET.Element]:
    found = ET.fromstring(drawing).iter(tag)  # noqa: S314 - our own drawing
    return [each for each in found if not kind or kind in each.get("class", "").split()]


def _badges(drawing: Markup) -> dict[int, tuple[float, float]]:
    """Return number of a mark, less one → where it is."""
    found = {}
    for group in _elements(drawing, "g", "badge"):
        words = group.find("text")
        assert words is not None
        found[int(words.text or "") - 1] = (float(words.get("x", "")), float(words.get("y", "")) - 3.6)
    return found


def _dots(drawing: Markup) -> dict[str, tuple[float, float]]:
    """Return name → the centre of its outline."""
    found = {}
    for group in _elements(drawing, "g", "badge"):
        title, circle, outline = group.find("title"), group.find("circle"), group.find("path")
        assert title is not None
        if circle is not None:
            found[title.text or ""] = (float(circle.get("cx", "")), float(circle.get("cy", "")))
        else:
            assert outline is not None
            points = re.findall(r"[ML]([\d.]+) ([\d.]+)", outline.get("d", ""))
            x, y = (sum(float(point[k]) for point in points) / len(points) for k in (0, 1))
            # A triangle stands a little lower, so that its number is in the middle.
            found[title.text or ""] = (x, y - (1.1 if len(points) == 3 else 0.0))
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
    pixels = [badges[row.mark.number - 1][0] for row in DIFFERENCES]
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
    rows = [badges[row.mark.number - 1][1] for row in DIFFERENCES]
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
    assert len(_elements(drawing, "path", "band")) == 3
    (budget,) = _elements(drawing, "line", "dashed")
    assert float(budget.get("x1", "")) == pytest.approx(float(lines[0][2][0]), abs=0.1)
    ends = sorted(y for _, y in _badges(drawing).values())
    assert all(b - a >= 19 - 1e-6 for a, b in itertools.pairwise(ends))


def test_a_budget_beyond_the_curve_has_no_line() -> None:
    """At the last budget there is one still."""
    for budget, count in ((None, 0), (4000, 1), (4001, 0)):
        drawing = curves(CURVES, BUDGETS, unit="tokens", headline_budget=budget)
        assert len(_elements(drawing, "line", "dashed")) == count


@pytest.mark.parametrize("name", ["families-wide", "families-narrow", "cost-wide", "cost-narrow"])
def test_a_point_stands_at_its_size_and_score(name: str) -> None:
    """Sizes and costs are on a logarithmic axis, scores on a plain one that goes up."""
    dots = _dots(DRAWN[name])
    assert _is_affine([math.log(p.x) for p in POINTS], [dots[p.name][0] for p in POINTS], rises=True)
    assert _is_affine([p.mean for p in POINTS], [dots[p.name][1] for p in POINTS], rises=False)


def test_a_family_is_one_line_with_its_band() -> None:
    """Two sizes of a chunker are joined; a chunker with one size has its interval only."""
    drawing = DRAWN["families-wide"]
    dots = _dots(drawing)
    (line,) = _elements(drawing, "path", "line")
    points = [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", line.get("d", ""))]
    assert np.allclose(points, [dots["cast:size=500"], dots["cast:size=2000"]], atol=0.1)
    assert len(_elements(drawing, "path", "band")) == 1
    assert len(_elements(drawing, "line", "whisker")) == 2


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=12), st.booleans())
def test_nothing_beats_what_is_on_the_front(drawn: list[tuple[int, int]], less: bool) -> None:  # noqa: FBT001 - hypothesis
    """A point is on the front, or one that costs no more is at least as good."""
    points = [Point(Mark(k + 1, 0, 0), str(k), float(x), float(y), 0, 9) for k, (x, y) in enumerate(drawn)]
    front = frontier(points, lower_is_better=less)
    sign = -1 if less else 1
    for point in points:
        beaten = any(p.x <= point.x and sign * p.mean >= sign * point.mean for p in front if p is not point)
        assert (point in front) or beaten
    costs = [(point.x, sign * point.mean) for point in front]
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(costs))


@given(st.lists(st.tuples(st.floats(0, 800), st.floats(0, 400), st.text("ab:=", max_size=30)), max_size=24))
def test_labels_hide_neither_points_nor_each_other(placed: list[tuple[float, float, str]]) -> None:
    """Whatever the points are, the boxes of the words that are drawn stand apart and inside."""
    labels = [Label(x, y, (words, words[:2])) for x, y, words in placed]
    boxes = []
    for drawing in beside(labels, inside=(0.0, 0.0, 820.0, 400.0)):
        element = ET.fromstring(drawing)  # noqa: S314 - our own drawing
        wide = 6.7 * len(element.text or "")
        left = (
            float(element.get("x", ""))
            - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "")]
        )
        boxes.append((left, float(element.get("y", "")) - 10, left + wide, float(element.get("y", "")) + 3))
    points = [(label.x - 8, label.y - 8, label.x + 8, label.y + 8) for label in labels]
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert left >= -0.01
        assert right <= 820.01
        for other in [*boxes[:k], *points]:
            apart = right <= other[0] + 0.02 or other[2] <= left + 0.02 or bottom <= other[1] + 0.02
            assert apart or other[3] <= top + 0.02


def test_thirty_chunkers_have_thirty_marks_that_any_eye_tells_apart() -> None:
    """Two marks differ in shape, or in a colour that no kind of colour blindness takes away, in light and in dark."""
    names = [f"{name}:size={size}" for size in (500, 1000, 1500, 2500, 3000) for name in "abcdef"]
    drawn = marks(names)
    assert len({(mark.colour, mark.shape) for mark in drawn.values()}) == 30
    assert [mark.number for mark in drawn.values()] == list(range(1, 31))
    assert all(drawn[name].colour == drawn[f"{family(name)}:size=500"].colour for name in names)
    style = (Path(svg.__file__).parent.parent / "templates" / "style.css").read_text("utf-8")
    palettes = re.findall(r"--c0: (#\w+); --c1: (#\w+); --c2: (#\w+); --c3: (#\w+); --c4: (#\w+); --c5: (#\w+);", style)
    assert len(palettes) == 3
    for palette in palettes:
        for sees in (np.eye(3), *_BLINDNESS):
            seen = _lab(_linear(palette) @ sees.T)
            assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 25


@given(st.lists(st.text("abc:=1", min_size=1, max_size=6), max_size=60))
def test_marks_depend_on_the_order_of_the_experiment_only(names: list[str]) -> None:
    """A chunker that is added at the end changes no mark, and no two of the first 30 are drawn alike."""
    drawn = marks(names)
    before = marks(names[:-1])
    assert {name: drawn[name] for name in before} == before
    first = list(drawn.values())[:30]
    assert len({(mark.colour, mark.shape) for mark in first}) == len(first)


# Machado, Oliveira & Fernandes (2009): protanopia, deuteranopia, tritanopia, on linear RGB.
_BLINDNESS = (
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
)


def _linear(palette: tuple[str, ...]) -> np.ndarray:
    values = np.array([[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in palette])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    x = np.clip(linear, 0, 1) @ to_xyz.T / np.array([0.9505, 1.0, 1.0888])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


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
    assert _is_affine([MEANS[k] or 0.0 for k in badges], [x for x, _ in badges.values()], rises=True)
    assert _is_affine(list(map(float, badges)), [y for _, y in badges.values()], rises=True)


def _approve() -> None:
    APPROVED.mkdir(exist_ok=True)
    for name, drawing in DRAWN.items():
        (APPROVED / f"{name}.svg").write_text(str(drawing) + "\n", "utf-8")


if __name__ == "__main__":
    _approve()
