"""A label stands where it hides nothing: the places beside its point, in their order, and their edges."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree as ET

import pytest
from markupsafe import Markup

from evaluation.report.figures.labels import Label, beside


def _number(element: ET.Element, name: str) -> float:
    return float(element.get(name, ""))


PLACES = [
    (10, 3.5, "start"),
    (-10, 3.5, "end"),
    (0, -13, "middle"),
    (0, 20, "middle"),
    (10, -13, "start"),
    (10, 20, "start"),
    (-10, -13, "end"),
    (-10, 20, "end"),
]
"""Where a label stands beside its point, in the order in which places are tried."""


def _boxes(words: str) -> list[tuple[float, float, float, float]]:
    wide = 6.7 * len(words)
    shift = {"start": 0.0, "end": -wide, "middle": -wide / 2}
    return [(100 + x + shift[side], 90 + y, 100 + x + shift[side] + wide, 103 + y) for x, y, side in PLACES]


def _placed(drawn: list[Markup]) -> list[tuple[float, float, str, str]]:
    found = [ET.fromstring(each) for each in drawn]  # noqa: S314 - our own drawing
    return [(_number(e, "x"), _number(e, "y"), e.get("text-anchor", ""), e.text or "") for e in found]


INSIDE = (0.0, 0.0, 300.0, 300.0)


@pytest.mark.parametrize("taken", range(8))
def test_a_label_takes_the_first_place_that_no_line_crosses(taken: int) -> None:
    """Right, left, above, below, then the corners; where lines are everywhere the first place is taken anyway."""
    lines = [(left + 1, top - 1, right - 1, bottom - 5) for left, top, right, bottom in _boxes("abcd")]
    x, y, anchor = PLACES[taken]
    # A line in the middle of a place may reach into a neighbouring one, which is then free of it: only earlier ones.
    middles = [((a + c) / 2, (b + d) / 2, (a + c) / 2 + 0.1, (b + d) / 2 + 0.1) for a, b, c, d in _boxes("abcd")]
    middles = [(a, b - 10 + 6.5, c, d - 10 + 6.5) for a, b, c, d in middles]
    (found,) = _placed(beside([Label(100, 100, ("abcd",))], inside=INSIDE, lines=middles[:taken]))
    assert found[:2] == pytest.approx((100 + x, 100 + y))
    assert found[2:] == (anchor, "abcd")
    (first,) = _placed(beside([Label(100, 100, ("abcd",))], inside=INSIDE, lines=[*middles, *lines]))
    assert first[:2] == (110, 103.5)


def test_a_label_beside_a_line_or_edge_that_it_only_touches_stays() -> None:
    """Its box is from 110 to 136.8 and 93.5 to 106.5: what begins or ends there hides nothing."""
    label = Label(100, 100, ("abcd",))
    right = 110 + 4 * 6.7
    for line in (
        (105, 98, 110, 102),
        (right, 98, right + 5, 102),
        (120, 91, 125, 93.5),
        (120, 106.5, 125, 109),
    ):
        assert _placed(beside([label], inside=INSIDE, lines=[line]))[0][0] == 110
        grown = (line[0] - 0.1, line[1] - 0.1, line[2] + 0.1, line[3] + 0.1)
        assert _placed(beside([label], inside=INSIDE, lines=[grown]))[0][0] != 110
    assert _placed(beside([label], inside=(110, 93.5, right, 106.5)))[0][0] == 110
    for edge, less in itertools.product(range(4), (0.1,)):
        tight = [110.0, 93.5, right, 106.5]
        tight[edge] += less if edge < 2 else -less
        assert beside([label], inside=(tight[0], tight[1], tight[2], tight[3])) == []


def test_a_shorter_label_is_used_where_the_wanted_one_does_not_fit() -> None:
    """The number alone, or nothing; a label never covers the point of another."""
    long = ("1 a-long-name:size=1000", "1")
    assert _placed(beside([Label(10, 100, long)], inside=(0, 90, 40, 110)))[0][3] == "1"
    assert beside([Label(10, 100, long[:1])], inside=(0, 90, 40, 110)) == []
    near = _placed(beside([Label(100, 100, ("a",)), Label(118, 100, ())], inside=INSIDE))
    assert [each[2] for each in near] == ["end"]
