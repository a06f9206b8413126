"""Parts of drawings at their edges: ticks, axes, marks that stand apart, labels that hide nothing, histograms."""

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
from evaluation.report.figures.marks import Mark, marks
from evaluation.report.figures.plane import Plane, Point, _axis_number, _powers, apart, plane, whisker_box
from evaluation.report.figures.sizes import Sizes, sizes

MARK = Mark(1, 0, 0)


def _elements(drawing: Markup, tag: str, kind: str = "") -> list[ET.Element]:
    found = ET.fromstring(drawing).iter(tag)  # noqa: S314 - our own drawing
    return [each for each in found if not kind or kind in each.get("class", "").split()]


def _number(element: ET.Element, name: str) -> float:
    return float(element.get(name, ""))


def _ticks(drawing: Markup, *, anchor: str = "middle") -> list[str]:
    """Return the words on an axis: those on the vertical one end at it."""
    found = [each for each in _elements(drawing, "text", "tick") if each.get("text-anchor") == anchor]
    return [each.text or "" for each in found if "halo" not in each.get("class", "")]


def _badges(drawing: Markup) -> list[tuple[float, float]]:
    words = [group.find("text") for group in _elements(drawing, "g", "badge")]
    return [(_number(each, "x"), _number(each, "y") - 3.6) for each in words if each is not None]


@given(st.floats(-1e3, 1e3), st.floats(1e-2, 1e6), st.integers(3, 10))
def test_ticks_are_all_multiples_of_a_round_step_that_lie_inside(low: float, size: float, about: int) -> None:
    """The step is 1, 2, 2.5 or 5 times a power of ten, the smallest that gives no more ticks than asked for."""
    high = low + size
    found = svg.ticks(low, high, about)
    if len(found) > 1:
        step = (found[-1] - found[0]) / (len(found) - 1)
        digits = step / 10.0 ** math.floor(math.log10(step * 1.000001))
        assert min(abs(digits - round_) for round_ in (1, 2, 2.5, 5)) < 1e-6
        raw = (high - low) / about
        assert step >= raw * 0.998
        assert step <= raw * 2.51
        assert np.allclose(np.array(found) / step, np.round(np.array(found) / step), atol=1e-6)
        slack = 1e-6 * step
        assert found[0] >= low - slack > found[0] - step - 2 * slack
        assert found[-1] <= high + slack < found[-1] + step + 2 * slack


@pytest.mark.parametrize(
    ("ends", "about", "found"),
    [
        ((0, 10), 5, [0, 2, 4, 6, 8, 10]),
        ((0, 1), 4, [0, 0.25, 0.5, 0.75, 1]),
        ((0, 100), 10, list(range(0, 101, 10))),
        ((1, 9), 4, [2, 4, 6, 8]),
        ((-3, 3), 6, [-3, -2, -1, 0, 1, 2, 3]),
        ((0, 4000), 6, [0, 1000, 2000, 3000, 4000]),
        ((5, 5), 5, [5]),
        ((6, 5), 5, [6]),
    ],
)
def test_ticks_at_the_ends_of_a_range_are_in_it(ends: tuple[float, float], about: int, found: list[float]) -> None:
    """A range that begins or ends at a round number has a tick there; one that is a point has that point."""
    assert svg.ticks(*ends, about) == pytest.approx(found)


def test_ticks_are_about_five_unless_asked() -> None:
    """The usual number."""
    assert svg.ticks(0, 5) == [0, 1, 2, 3, 4, 5]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.floats(1, 8))
def test_labels_that_do_not_touch_stay_where_they_are(wanted: list[float], gap: float) -> None:
    """Those that fit between the ends are inside; those that keep the distance already do not move."""
    placed = svg.spread(wanted, gap, 0, 100)
    assert max(placed) <= 100 + 1e-6
    if (len(wanted) - 1) * gap <= 100:
        assert min(placed) >= -1e-6
    order = sorted(wanted)
    if all(b - a >= gap for a, b in itertools.pairwise(order)):
        assert placed == pytest.approx(wanted)
    assert svg.spread([], gap, 0, 100) == []


def test_labels_are_pushed_down_and_back_up_as_far_as_they_must() -> None:
    """Equal ones begin at their place; at the lower end they are moved up again."""
    assert svg.spread([10, 10, 10], 5, 0, 100) == [10, 15, 20]
    assert svg.spread([98, 98], 5, 0, 100) == [95, 100]
    assert svg.spread([-5, 3], 4, 0, 100) == [0, 4]


def test_words_are_cut_only_where_they_are_too_long() -> None:
    """What fits exactly is whole; the ellipsis is part of the length."""
    assert svg.short("abcde", 50, character=10) == "abcde"
    assert svg.short("abcdef", 59, character=10) == "abcd…"
    assert [svg.signed(value) for value in (0, 0.0, 2.5, -1)] == ["0", "0", "+2.5", "−1"]


@pytest.mark.parametrize("narrow", [False, True])
def test_long_names_stay_inside_the_drawing(*, narrow: bool) -> None:
    """In the widest of the usual fonts, a name beside or above its row is cut at its end, never by the edge."""
    name = "sliding-window:window=20,step=10,header=path + definition"
    rows = [Difference(MARK, name, 1.0, -2.0, 3.0, False, "")]
    edges = [0, 10, 20]
    figures = [
        forest(rows, reference=name, unit="points", narrow=narrow),
        sizes([Sizes(MARK, name, edges, [1, 2])], unit="nws", narrow=narrow),
        curves(
            [Curve(MARK, name, *[[0.5, 0.6]] * 3)], (1000, 2000), unit="tokens", headline_budget=None, narrow=narrow
        ),
    ]
    for drawing in figures:
        width = float(ET.fromstring(drawing).get("width", ""))  # noqa: S314 - our own drawing
        for words in (each for each in _elements(drawing, "text") if (each.text or "").endswith("…")):
            kind = (words.get("class") or "").split()
            character = svg.BOLD if "strong" in kind else svg.TICK if "tick" in kind else svg.CHARACTER
            long, x = len(words.text or "") * character, _number(words, "x")
            assert (x - long >= 0) if words.get("text-anchor") == "end" else (x + long <= width)
    assert len([each for drawing in figures for each in _elements(drawing, "text") if "…" in (each.text or "")]) >= 3


def test_an_element_has_the_attributes_that_are_given() -> None:
    """Names are those of SVG, numbers have two decimals at most, None is left out, and text is escaped."""
    assert svg.tag("a", "<", class_="x", stroke_width=1.5, href=None) == '<a class="x" stroke-width="1.5">&lt;</a>'
    assert svg.tag("b", x=100.0, y=2.004, z=0.126, n=7) == '<b x="100" y="2" z="0.13" n="7"></b>'
    assert svg.path([(1, 2), (3, 4.06)], class_="p") == '<path d="M1.0 2.0 L3.0 4.1" class="p"></path>'
    assert svg.path([(1, 2), (3, 4)], class_="p", closed=True).startswith('<path d="M1.0 2.0 L3.0 4.0 Z"')
    assert "<title>" not in svg.dot(1, 2, MARK)
    assert "<title>t</title>" in svg.dot(1, 2, MARK, title="t")
    assert "hollow" not in svg.badge(1, 2, MARK)
    halves = svg.linear((0, 0), (10, 20))
    assert (halves(0), halves(1)) == (10, 20)
    assert svg.linear((2, 4), (10, 20))(3) == 15


@pytest.mark.parametrize(("shape", "corners"), [(1, 4), (2, 4), (3, 3), (4, 6)])
def test_a_mark_is_a_regular_outline_of_about_a_discs_area(shape: int, corners: int) -> None:
    """Corners lie on a circle around the centre, which a triangle has a little lower; a square lies flat."""
    drawn = svg.shape(50, 60, Mark(1, 0, shape), radius=10.0)
    points = np.array([[float(v) for v in pair] for pair in re.findall(r"[ML]([\d.]+) ([\d.]+)", drawn)])
    assert len(points) == corners
    centre = points.mean(axis=0)
    assert centre == pytest.approx([50, 62 if shape == 3 else 60], abs=0.1)
    far = np.linalg.norm(points - centre, axis=1)
    assert far == pytest.approx(far[0], abs=0.1)
    assert points[0][1] == pytest.approx(points[:, 1].min(), abs=0.11)
    if shape == 1:
        assert len({round(y) for _, y in points}) == 2
    else:
        assert points[0][0] == pytest.approx(50, abs=0.1)
    sides = np.roll(points, -1, axis=0) - points
    assert np.linalg.norm(sides, axis=1) == pytest.approx(np.linalg.norm(sides[0]), abs=0.2)
    (x, y), (next_x, next_y) = (points - centre).T, (np.roll(points, -1, axis=0) - centre).T
    area = abs(np.sum(x * next_y - y * next_x)) / 2
    assert 0.8 < area / (math.pi * 100) < 1.25


@pytest.mark.parametrize(
    ("low", "high", "most", "found"),
    [
        (100, 200, 10, [100, 120, 140, 160, 180, 200]),
        (200, 500, 10, [200, 250, 300, 350, 400, 500]),
        (500, 1000, 10, [500, 600, 700, 800, 900, 1000]),
        (100, 1000, 10, [100, 150, 200, 300, 400, 500, 700, 1000]),
        (100, 3000, 10, [100, 200, 300, 500, 700, 1000, 2000, 3000]),
        (100, 10_000, 10, [100, 200, 500, 1000, 2000, 5000, 10_000]),
        (100, 200_000, 10, [100, 300, 1000, 3000, 10_000, 30_000, 100_000]),
        (1, 100_000, 10, [1, 10, 100, 1000, 10_000, 100_000]),
        (0.1, 0.2, 10, [0.1, 0.12, 0.14, 0.16, 0.18, 0.2]),
        (101, 119, 10, []),
    ],
)
def test_a_logarithmic_axis_has_round_numbers_as_many_as_there_is_room_for(
    low: float, high: float, most: int, found: list[float]
) -> None:
    """Fewer to a decade over more decades; both ends belong to the range."""
    assert _powers(low, high, most=most) == pytest.approx(found)


def _points(*places: tuple[float, float]) -> list[Point]:
    return [Point(Mark(k + 1, 0, 0), f"p{k}", x, mean, mean, mean) for k, (x, mean) in enumerate(places)]


def _axes(on: Plane, *, anchor: str) -> list[str]:
    return _ticks(svg.figure(on.width, on.height, "axes", *on.axes), anchor=anchor)


def test_the_horizontal_axis_is_as_full_as_the_drawing_is_wide() -> None:
    """At most ten numbers on a wide one and five on a narrow one, and what it shows below them."""
    points = _points((130, 1), (385, 2))
    wide, narrow = (_axes(plane(points, across="words", narrow=each), anchor="middle") for each in (False, True))
    assert wide == ["100", "150", "200", "300", "400", "500", "words"]
    assert narrow == ["100", "200", "300", "500", "words"]
    assert [_axis_number(value) for value in (0.5, 150, 20_000, 500_000, 1e6, 2.5e6)] == [
        *("0.5", "150", "20,000", "500,000", "1 M", "2.5 M")
    ]


@pytest.mark.parametrize("narrow", [False, True])
def test_points_lie_inside_the_axes_with_room_around_them(narrow: bool) -> None:  # noqa: FBT001 - parametrized
    """A third more to the left and right, 8 % above and below; a single point has one unit on each side."""
    on = plane(_points((10, 20), (1000, 70)), across="", narrow=narrow)
    left, top, right, bottom = on.inside
    assert 0 < left < right <= on.width
    assert 0 < top < bottom < on.height
    assert on.x(10 / 1.3) == pytest.approx(left)
    assert on.x(1300) == pytest.approx(right - 16)
    assert (on.y(74), on.y(16)) == pytest.approx((top, bottom))
    alone = plane(_points((10, 20)), across="", narrow=narrow)
    assert (alone.y(21), alone.y(19)) == pytest.approx((top, bottom))
    assert _axes(alone, anchor="end") == ["19", "19.5", "20", "20.5", "21"]


def test_a_whisker_is_as_wide_as_its_line() -> None:
    """Labels keep off what is drawn, which the style says, from the high end to the low one."""
    point = Point(MARK, "p", 100, 50, 40, 60)
    on = plane([point], across="", narrow=False)
    left, top, right, bottom = whisker_box(point, on)
    assert (left + right) / 2 == pytest.approx(on.x(100))
    assert (top, bottom) == (on.y(60), on.y(40))
    style = (Path(svg.__file__).parent.parent / "templates" / "figures.css").read_text("utf-8")
    drawn = re.search(r"\.whisker \{[^}]*stroke-width: ([\d.]+)", style)
    assert drawn is not None
    assert right - left == pytest.approx(float(drawn[1]))


def test_marks_side_by_side_are_a_mark_apart_and_keep_their_middle() -> None:
    """Four stand fully side by side, five overlap by half; the middle of a crowd is that of its values."""
    for count, gap in ((2, 12), (4, 12), (5, 6), (8, 6)):
        found = sorted(x for x, _ in apart([(100.0, 50.0)] * count))
        assert [b - a for a, b in itertools.pairwise(found)] == pytest.approx([gap] * (count - 1))
        assert sum(found) / count == pytest.approx(100)
    assert [x for x, _ in apart([(100, 50), (104, 50)])] == pytest.approx([96, 108])


@pytest.mark.parametrize("other", [(109.0, 50.0), (100.0, 59.0), (91.0, 50.0), (100.0, 41.0), (130, 50), (100, 90)])
def test_marks_that_do_not_cover_each_other_stay(other: tuple[float, float]) -> None:
    """Three quarters of a mark away, in either direction, is far enough; a little nearer is not."""
    assert apart([(100.0, 50.0), other]) == [(100.0, 50.0), other]
    if abs(other[0] - 100) + abs(other[1] - 50) == 9:
        near = (100 + (other[0] - 100) * 0.99, 50 + (other[1] - 50) * 0.99)
        assert apart([(100.0, 50.0), near]) != [(100.0, 50.0), near]


@pytest.mark.parametrize("count", [2, 12, 40])
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("narrow", [False, True])
def test_numbered_ends_of_curves_have_room_however_many_there_are(count: int, value: float, narrow: bool) -> None:  # noqa: FBT001 - parametrized
    """All of them stand apart beside the axis, the outermost four pixels inside it."""
    rows = [Curve(Mark(k + 1, 0, 0), f"c{k}", [0.0, value], [0.0, value], [0.0, value]) for k in range(count)]
    drawing = curves(rows, (1000, 3000), unit="tokens", headline_budget=None, narrow=narrow)
    height = _number(ET.fromstring(drawing), "height")  # noqa: S314 - our own drawing
    ends = sorted(y for _, y in _badges(drawing))
    assert len(ends) == count
    assert all(b - a >= 19 - 1e-6 for a, b in itertools.pairwise(ends))
    assert ends[0] >= 18 - 1e-6
    assert ends[-1] <= height - 50 + 1e-6
    assert (ends[0] == pytest.approx(18)) if value else (ends[-1] == pytest.approx(height - 50))
    assert height >= (300 if narrow else 420)
    assert height == (300 if narrow else 420) or count == 40
    assert _ticks(drawing, anchor="end") == ["0", "20", "40", "60", "80", "100"]
    steps = ["0", "1,000", "2,000", "3,000"] if narrow else [f"{k * 500:,}" for k in range(7)]
    assert _ticks(drawing) == [*steps, "tokens read"]


def test_a_drawing_is_the_wide_one_unless_a_narrow_one_is_asked_for() -> None:
    """So for every figure that has both."""
    points = _points((130, 1), (385, 2))
    drawn = [
        curves([], (10,), unit="tokens", headline_budget=None),
        forest([], reference="r", unit="points"),
        families(points, measure="m"),
        cost_figure(points, cost="c", measure="m"),
        sizes([Sizes(MARK, "a", (0.0, 1.0), (3,))], unit="nws"),
    ]
    assert [_number(ET.fromstring(each), "width") for each in drawn] == [820] * 5  # noqa: S314 - our own drawing
    assert [point.name for point in frontier(_points((1, 5), (2, 4), (3, 6)))] == ["p0", "p2"]


def _forest(*rows: tuple[float, float, float], narrow: bool = False) -> Markup:
    made = [Difference(MARK, "a", middle, low, high, shown=True, note="") for low, middle, high in rows]
    return forest(made, reference="r", unit="points", narrow=narrow)


@pytest.mark.parametrize(
    ("row", "share"), [((2, 3, 4), 0.05 / 1.1), ((-4, -3, -2), 1.05 / 1.1), ((-1, 0, 3), 0.3 / 1.1), ((0, 0, 0), 0.5)]
)
@pytest.mark.parametrize("narrow", [False, True])
def test_zero_is_always_on_the_axis_of_differences(row: tuple[float, float, float], share: float, narrow: bool) -> None:  # noqa: FBT001 - parametrized
    """The axis reaches from the least of zero and all ends to the largest, and a twentieth of that further."""
    drawing = _forest(row, narrow=narrow)
    (zero,) = _elements(drawing, "line", "zero")
    left, right = (16, 324) if narrow else (250, 624)
    assert _number(zero, "x1") == pytest.approx(left + share * (right - left), abs=0.01)


def test_differences_have_ticks_with_signs_on_both_sides() -> None:
    """To both ends of the axis; a narrow one has fewer; equal chunkers have one unit on each side."""

    def ticks(drawing: Markup) -> list[str]:
        return [each for each in _ticks(drawing) if each != "points"]

    assert ticks(_forest((-10, 0, 10))) == ["−10", "−5", "0", "+5", "+10"]
    assert ticks(_forest((-10, 0, 10), narrow=True)) == ["−10", "0", "+10"]
    assert ticks(_forest((0, 0, 0))) == ["−1", "−0.5", "0", "+0.5", "+1"]


@pytest.mark.parametrize("narrow", [False, True])
def test_a_histogram_without_a_shared_axis_has_no_numbers_below_it(narrow: bool) -> None:  # noqa: FBT001 - parametrized
    """Bins that differ are drawn as they are; an open last edge is infinite; at most so many edges are named."""
    one = Sizes(MARK, "a", (0.0, 10.0, 20.0, None), (1, 2, 4))
    other = Sizes(Mark(2, 1, 0), "b", (0.0, 5.0, None), (0, 8))
    both = sizes([one, other], unit="nws", narrow=narrow)
    assert _ticks(both) == ["nws"]
    assert len(_elements(both, "rect")) == 4
    assert _ticks(sizes([one], unit="nws", narrow=narrow)) == ["0", "10", "20", "∞", "nws"]
    trimmed = sizes([one._replace(counts=(0, 2, 0))], unit="nws", narrow=narrow)
    assert _ticks(trimmed) == ["10", "20", "nws"]
    empty = sizes([one._replace(counts=(0, 0, 0))], unit="nws", narrow=narrow)
    assert _elements(empty, "rect") == []
    assert _ticks(empty) == ["0", "10", "20", "∞", "nws"]
    edges = tuple(float(k) for k in range(21))
    many = _ticks(sizes([Sizes(MARK, "a", edges, (1,) * 20)], unit="nws", narrow=narrow))[:-1]
    assert many == [str(k) for k in range(0, 21, 4 if narrow else 3)]


def test_bars_stand_on_their_line_between_the_edges_of_their_bins() -> None:
    """Each bin is as wide as the others, with a gap of a pixel; numbers stand at the edges."""
    drawing = sizes([Sizes(MARK, "a", (0.0, 10.0, 20.0, 30.0), (1, 0, 4))], unit="nws")
    first, last = _elements(drawing, "rect")
    base = _number(_elements(drawing, "line", "grid")[0], "y1")
    step = (792 - 250) / 3
    assert [_number(each, "x") for each in (first, last)] == pytest.approx([250, 250 + 2 * step], abs=0.01)
    assert _number(first, "width") == pytest.approx(step - 1, abs=0.01)
    for bar, tall in ((first, 34 / 4), (last, 34)):
        assert _number(bar, "height") == pytest.approx(tall)
        assert _number(bar, "y") + _number(bar, "height") == pytest.approx(base)
    places = [_number(each, "x") for each in _elements(drawing, "text", "tick")[:-1]]
    assert places == pytest.approx([250 + k * step for k in range(4)], abs=0.01)
    one = sizes([Sizes(MARK, "a", (0.0, 10.0), (4,))], unit="nws")
    (bar,) = _elements(one, "rect")
    assert (_number(bar, "x"), _number(bar, "width")) == (250, 541)
    assert [_number(each, "x") for each in _elements(one, "text", "tick")[:-1]] == [250, 792]
    thin = sizes([Sizes(MARK, "a", tuple(map(float, range(801))), (1,) * 800)], unit="nws")
    assert {each.get("width") for each in _elements(thin, "rect")} == {"1"}


def test_a_family_shares_a_colour_as_far_as_the_shapes_reach() -> None:
    """Five of a family do, the sixth takes the colour that is used least; when all are used alike it keeps its own."""
    family = marks(f"a:size={k}" for k in range(7))
    colours = [mark.colour for mark in family.values()]
    assert colours[:5] == [0] * 5
    assert colours[5:] == [1, 2]
    full = [f"{name}:size={k}" for name in "abcdef" for k in range(5)]
    assert marks([*full, "c:size=9"])["c:size=9"].colour == marks(full)["c:size=0"].colour == 2
    assert [mark.colour for mark in marks("abcdefg").values()] == [0, 1, 2, 3, 4, 5, 0]
