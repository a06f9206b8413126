"""The drawing of a trend at its edges: few and many runs, words beside lines, dots, pieces and what is spanned."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from test_history_trend import series

from evaluation.history.trend import Note, Point, Series, by_setting
from evaluation.history.trend_figure import _notes, _pieces, _run_ticks, trend_figure
from evaluation.report.figures.marks import marks


def _root(drawing: Markup) -> ET.Element:
    return ET.fromstring(drawing)  # noqa: S314 - our own drawing


def _texts(drawing: Markup, anchor: str) -> list[str]:
    found = [each for each in _root(drawing).iter("text") if each.get("text-anchor") == anchor]
    return [each.text or "" for each in found if "tick" in (each.get("class") or "").split()]


def _of_class(drawing: Markup, tag: str, kind: str) -> list[ET.Element]:
    return [each for each in _root(drawing).iter(tag) if kind in (each.get("class") or "").split()]


def _points(element: ET.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", element.get("d", ""))]


def _span(one: Series) -> tuple[float, float]:
    return one.reach


@pytest.mark.parametrize(
    ("means", "half", "ends"),
    [
        ([0.5, 0.5], None, (0.45, 0.55)),
        ([0.3, 0.7], None, (0.3, 0.7)),
        ([0.5, 0.5], 0.01, (0.45, 0.55)),
        ([0.5, 0.5], 0.1, (0.2, 0.8)),
        ([0.5, 0.9], 0.05, (0.45, 0.9)),
    ],
)
def test_a_trend_spans_all_that_is_known_and_three_times_what_chance_does(
    means: list[float], half: float | None, ends: tuple[float, float]
) -> None:
    """Ten points of a share at least, the same air above and below; of another measure a fifth of its value."""
    one = series("a", means, half=half)
    assert one.reach == pytest.approx(ends)
    amount = replace(one, measure="tokens_to_recall(0.5)")
    if half is None:
        low, high = min(means), max(means)
        more = max(0.0, 0.2 * high - (high - low)) / 2
        assert amount.reach == pytest.approx((low - more, high + more))
    below = replace(series("a", [-4.0, -4.0], half=None), measure="tokens_to_recall(0.5)")
    assert below.reach == pytest.approx((-4.4, -3.6))


def test_blocks_show_where_a_mean_lies_in_that_span() -> None:
    """The lowest mean of a wide range is the lowest block, the highest the highest; nothing is the lowest."""
    assert series("a", [0.1, 0.5, 0.9], half=None).spark == "▁▅█"
    flat = replace(series("a", [0.0, 0.0], half=None), measure="tokens_to_recall(0.5)")
    assert flat.spark == "▁▁"


def test_a_series_has_moved_where_a_night_called_it_a_change() -> None:
    """Better or worse; a run that cannot be compared is no move."""
    assert series("a", [0.5, 0.4], regression=1).moved
    assert not series("a", [0.5, 0.4], broken=1).moved
    better = series("a", [0.5, 0.6])
    assert replace(better, points=(*better.points[:1], better.points[1]._replace(verdict="improvement"))).moved


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40, unique=True), st.sampled_from([4, 8]))
def test_runs_are_named_one_by_one_or_by_round_numbers(numbers: list[int], about: int) -> None:
    """All of a few; of many whole numbers between the first and the last."""
    runs = sorted(numbers)
    found = _run_ticks(runs, about)
    if len(runs) <= about:
        assert found == runs
    else:
        assert all(value == int(value) and runs[0] <= value <= runs[-1] for value in found)
        assert len(found) <= about + 1


@pytest.mark.parametrize(("narrow", "most"), [(False, 8), (True, 4)])
def test_every_run_has_its_number_as_long_as_there_is_room(narrow: bool, most: int) -> None:  # noqa: FBT001 - parametrized
    """Eight on a wide drawing and four on a narrow one; then round ones."""
    drawn = marks(["a"])
    all_ = _texts(trend_figure([series("a", [0.5] * most)], drawn, narrow=narrow), "middle")
    assert all_ == [*(str(k) for k in range(2, 2 + most)), "run"]
    fewer = _texts(trend_figure([series("a", [0.5] * 3 * most)], drawn, narrow=narrow), "middle")
    assert fewer == [*(["5", "10"] if narrow else ["5", "10", "15", "20", "25"]), "run"]
    width = _root(trend_figure([series("a", [0.5])], drawn, narrow=narrow)).get("width")
    assert width == ("340" if narrow else "820")
    assert _root(trend_figure([series("a", [0.5])], drawn)).get("width") == "820"


@pytest.mark.parametrize(("narrow", "most"), [(False, 8), (True, 4)])
def test_runs_that_lie_apart_are_named_by_round_numbers_where_they_are_many(narrow: bool, most: int) -> None:  # noqa: FBT001 - parametrized
    """Up to so many each has its own."""

    def named(count: int) -> list[str]:
        one = series("a", [0.5] * count)
        points = tuple(point._replace(run=1 if k == 0 else 90 + k) for k, point in enumerate(one.points))
        return _texts(trend_figure([replace(one, points=points)], marks(["a"]), narrow=narrow), "middle")[:-1]

    assert named(most) == ["1", *(str(90 + k) for k in range(1, most))]
    assert named(most + 1) == (["25", "50", "75"] if narrow else ["20", "40", "60", "80"])


def test_runs_stand_between_the_edges_in_proportion_to_their_numbers() -> None:
    """The first eight pixels behind the axis, the last eight before its end; a single run at the left."""
    rows = [series("a", [0.3, 0.7, 0.5])]
    drawing = trend_figure(rows, marks(["a"]))
    (line,) = [_points(each) for each in _of_class(drawing, "path", "line")]
    assert [x for x, _ in line] == pytest.approx([54, (54 + 580) / 2, 580], abs=0.1)
    heights = [y for _, y in line]
    assert heights[1] < heights[2] < heights[0]
    low, high = rows[0].reach
    air = 3 * (high - low)
    scale = (294 - 14) / (100 * (high - low) + 2 * air)
    assert heights[0] == pytest.approx(294 - (30 - (100 * low - air)) * scale, abs=0.1)
    alone = trend_figure([series("a", [0.5])], marks(["a"]))
    (line,) = [_points(each) for each in _of_class(alone, "path", "line")]
    assert line[0][0] == pytest.approx(54, abs=0.1)


def test_a_measure_that_never_left_nothing_is_drawn_around_it() -> None:
    """With one unit above and below."""
    nothing = replace(series("a", [0.0, 0.0], half=None), measure="tokens_to_recall(0.5)")
    assert _texts(trend_figure([nothing], marks(["a"])), "end") == ["-1", "-0.5", "0", "0.5", "1"]


@pytest.mark.parametrize("count", [3, 20, 40])
def test_ends_of_many_trends_stand_apart_beside_the_drawing(count: int) -> None:
    """However many there are, they stay four pixels above its lower edge and on it."""
    rows = [series(f"c{number:02}", [0.5, 0.5], half=None) for number in range(count)]
    drawing = trend_figure(rows, marks(row.key.chunker for row in rows))
    height = float(_root(drawing).get("height", ""))
    badges = [each.find("text") for each in _of_class(drawing, "g", "badge")]
    ends = sorted(float(each.get("y", "")) - 3.6 for each in badges if each is not None)
    assert len(ends) == count
    assert all(b - a >= 19 - 1e-6 for a, b in pairwise(ends))
    assert ends[0] >= 14
    assert ends[-1] <= height - 50 + 1e-6
    assert ends[-1] == pytest.approx(height - 50) or count == 3
    assert height == 340 or count > 3


def _at(*runs: float, label: str = "abcd") -> list[tuple[float, str]]:
    """Return where words are written for notes at these places, and at which end they are held."""
    found = _notes([Note(int(run), label, "why") for run in runs], float, 300.0, 500.0)
    texts = [ET.fromstring(each) for each in found]  # noqa: S314 - our own drawing
    return [(float(e.get("x", "")), e.get("text-anchor", "")) for e in texts if e.tag == "text"]


def test_words_stand_to_the_right_of_their_line_or_to_the_left_where_there_is_room() -> None:
    """Four letters take 29 pixels and five between two; at the right edge they stand on the left."""
    assert _at(0) == [(3, "start")]
    assert _at(100, 134) == [(103, "start"), (137, "start")]
    assert _at(100, 133) == [(103, "start")]
    assert _at(100, 163) == [(103, "start"), (166, "start")]
    assert _at(470) == [(473, "start")]
    assert _at(471) == [(468, "end")]
    assert _at(440, 475, 499) == [(443, "start")]
    assert _at(400, 475, 478) == [(403, "start"), (472, "end")]
    assert _at(400, 463, 493) == [(403, "start"), (466, "start")]
    assert _at(437, 471, 500) == [(440, "start"), (497, "end")]
    assert _at(436, 499) == [(439, "start"), (496, "end")]


@pytest.mark.parametrize(("run", "written"), [(473, 1), (474, 2)])
def test_short_words_may_follow_those_on_the_left_of_a_line(run: int, written: int) -> None:
    """Three pixels behind that line."""
    drawn = _notes([Note(471, "abcd", "why"), Note(run, "a", "why")], float, 300.0, 500.0)
    assert len([part for part in drawn if part.startswith("<text")]) == written


def test_notes_of_one_run_are_one_line_with_all_their_words() -> None:
    """Each label once; what was said stands in the title."""
    drawn = _notes(
        [Note(9, "b", "2"), Note(5, "changed", "x"), Note(5, "accepted", "y"), Note(5, "changed", "z")],
        float,
        300.0,
        500.0,
    )
    lines = [each for part in drawn for each in ET.fromstring(part).iter("line")]  # noqa: S314 - our own drawing
    assert [float(each.get("x1", "")) for each in lines] == [5, 9]
    assert {(each.get("y1"), each.get("y2")) for each in lines} == {("14", "300")}
    words = [each.text for part in drawn for each in ET.fromstring(part).iter("text")]  # noqa: S314 - our own drawing
    assert words[0] == "accepted, changed"
    titles = [each.text for part in drawn for each in ET.fromstring(part).iter("title")]  # noqa: S314 - our own drawing
    assert titles == ["accepted: y; changed: x; changed: z", "b: 2"]


def test_a_line_is_cut_before_each_run_that_cannot_be_compared() -> None:
    """The first point begins the first piece whatever it says of itself."""
    points = series("a", [0.1, 0.2, 0.3, 0.4, 0.5]).points
    broken = [points[0]._replace(broken=True), points[1], points[2]._replace(broken=True), points[3], points[4]]
    assert [[point.run for point in piece] for piece in _pieces(broken)] == [[2, 3], [4, 5, 6]]
    assert _pieces(points[:1]) == [[points[0]]]


def test_a_band_lies_between_the_quiet_values_of_at_least_two_runs() -> None:
    """One run has no width; a band is that of what chance does, in the colour of its chunker."""
    one = trend_figure([series("a", [0.5, 0.5])], marks(["a"]))
    assert _of_class(one, "path", "band") == []
    two = trend_figure([series("a", [0.5, 0.5, 0.5])], marks(["a"]))
    (band,) = _of_class(two, "path", "band")
    (line,) = [_points(each) for each in _of_class(two, "path", "line")]
    corners = _points(band)
    assert [x for x, _ in corners] == pytest.approx([line[1][0], line[2][0], line[2][0], line[1][0]])
    middle = (corners[0][1] + corners[3][1]) / 2
    assert middle == pytest.approx(line[1][1], abs=0.1)
    assert corners[0][1] < middle
    moved = [series(f"c{k}", [0.5] * 3) for k in range(4)] + [series("late", [0.5, 0.5, 0.4], regression=2)]
    drawing = trend_figure(moved, marks(row.key.chunker for row in moved))
    bands = [each.get("class") for each in _of_class(drawing, "path", "band")]
    drawn = marks(row.key.chunker for row in moved)
    assert bands == [f"band {drawn[name].colour_class}" for name in ("late", "c1", "c0")]


@pytest.mark.parametrize("runs", [40, 41])
def test_what_was_found_has_a_mark_however_many_runs_there_are(runs: int) -> None:
    """A numbered one, hollow for the worse; a cut has a dot; other runs have one as long as there are few."""
    one = series("a", [0.5] * runs)
    points = list(one.points)
    points[5] = points[5]._replace(verdict="regression")
    points[6] = points[6]._replace(verdict="improvement")
    points[7] = points[7]._replace(broken=True)
    drawing = trend_figure([replace(one, points=tuple(points))], marks(["a"]))
    badges = [each for each in _of_class(drawing, "g", "badge") if each.find("text") is not None]
    assert len(badges) == 3
    assert len(_of_class(drawing, "g", "hollow")) == 1
    small = [each for each in _root(drawing).iter("circle") if each.get("r") == "3"]
    assert len(small) == (38 if runs == 40 else 1)


def test_settings_that_look_alike_without_their_paths_keep_them() -> None:
    """A chunker is there once where no embedder is used; titles are short where that is enough."""
    one = replace(series("a", [0.5]), uses_vectors=False)
    twin = replace(one, key=one.key._replace(embedder="other"))
    assert {title: len(held) for title, held in by_setting([one, twin]).items()} == {"naurc@4000tok · code · dense": 1}
    here, there = (replace(one, key=one.key._replace(dataset=f"mined:root=/{place}/code")) for place in ("x", "y"))
    assert list(by_setting([here])) == ["naurc@4000tok · mined:root=code · dense"]
    assert list(by_setting([here, there])) == [f"naurc@4000tok · mined:root=/{place}/code · dense" for place in "xy"]
    both = by_setting([one, replace(one, uses_vectors=True), replace(one, key=one.key._replace(chunker="b"))])
    assert {title: [each.key.chunker for each in held] for title, held in both.items()} == {
        "naurc@4000tok · code · dense": ["a", "b"],
        "naurc@4000tok · code · hashing · dense": ["a"],
    }


def test_a_point_is_what_its_fields_say() -> None:
    """Nothing is known of chance unless a night said so."""
    assert Point(1, "t", 0.5, None, None, "c", broken=False, verdict="").quiet is None
