"""Numbers as a person reads them, at the edges of each rule."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evaluation.report.formats import number, p_value, plural, score, span, sparkline, unbroken
from evaluation.report.glossary import named
from evaluation.report.linestore import LineStore, text_lines


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (0.05, {}, "0.1"),
        (0.04, {}, "0.0"),
        (-0.04, {"signed": True}, "0.0"),
        (-0.06, {"signed": True}, "−0.1"),
        (0.06, {"signed": True}, "+0.1"),
        (1234.56, {"digits": 0}, "1,235"),
        (-1234.56, {"digits": 2}, "−1,234.56"),
        (math.nan, {}, "–"),
        (None, {}, "–"),
    ],
)
def test_a_number_has_a_sign_only_where_it_shows_one(value: float | None, options: dict[str, Any], text: str) -> None:
    """A value that rounds to nothing is neither above nor below."""
    assert number(value, **options) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.000099, "p < 0.0001"),
        (0.0001, "p = 0.0001"),
        (0.0999, "p = 0.1"),
        (0.1, "p = 0.10"),
        (0.995, "p = 0.99"),
        (0.9951, "p = 1"),
        (None, "no p"),
        (math.nan, "no p"),
    ],
)
def test_a_p_is_as_exact_as_it_is_useful(p: float | None, text: str) -> None:
    """Two places of a small one, two decimals of a large one, and bounds at both ends."""
    assert p_value(p) == text


def test_scores_are_in_their_units() -> None:
    """Shares are points; tokens are whole; an interval without an end is none."""
    assert score("ndcg@5", 0.4567) == "45.7"
    assert score("ndcg@5", -0.4567, signed=True) == "−45.7"
    assert score("tokens_to_recall(0.5)", 1234.5) in {"1,234", "1,235"}
    assert [score("kendall_tau", value) for value in (0.5, 0.123456, -0.25, 0.0)] == ["0.5", "0.123", "−0.25", "0"]
    assert score("ndcg@5", None) == score("ndcg@5", math.nan) == "–"
    assert span("ndcg@5", 0.1, 0.25) == "10.0 … 25.0"
    for low, high in ((None, 0.1), (0.1, None), (math.nan, 0.1), (0.1, math.nan)):
        assert span("ndcg@5", low, high) == "no interval"


def test_words_are_counted() -> None:
    """One, none and many."""
    assert [plural(count, "query") for count in (0, 1, 2, 1000)] == [
        "0 queries",
        "1 query",
        "2 queries",
        "1,000 queries",
    ]
    assert plural(2, "pair") == "2 pairs"


def test_a_sparkline_has_eight_steps_between_nothing_and_everything() -> None:
    """Each eighth is a block; beyond the ends the last block stays; a hole is a blank."""
    assert sparkline([k / 8 for k in range(8)]) == "▁▂▃▄▅▆▇█"
    assert sparkline([k / 8 - 1e-9 for k in range(1, 9)]) == "▁▂▃▄▅▆▇█"
    assert sparkline([-1.0, 1.0, 2.0, math.nan]) == "▁██ "


def test_lines_that_are_shared_are_kept_once() -> None:
    """Two slices that overlap are one run of lines; two that do not are two."""
    store = LineStore()
    number = store.add("scope", "a.py", 1, text_lines("a\nb\nc\n"))
    assert store.add("scope", "a.py", 2, text_lines("b\nc\nd\n")) == number
    assert store.add("scope", "a.py", 9, text_lines("z\n")) == number
    assert (
        store.add("scope", "b.py", 1, text_lines("a\n")) == store.add("scope", "b.py", 1, text_lines("a\n")) != number
    )
    first, second = store.packed()
    assert (first["path"], second["path"]) == ("a.py", "b.py")
    assert [start for start, _ in first["runs"]] == [1, 9]
    assert first["runs"][0][1].split("\n")[:4] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("text", "glued"),
    [
        ("95 % of 4,000 tokens", "95_% of 4,000_tokens"),
        ("3.9 points (−2.4 … +5.3), a point", "3.9_points (−2.4_…_+5.3), a point"),
        ("12 percent, 3 pointless, and … more", "12 percent, 3 pointless, and … more"),
    ],
)
def test_a_number_stays_with_its_unit(text: str, glued: str) -> None:
    """No line ends before a unit or inside an interval; other spaces stay as they are."""
    assert unbroken(text).replace("\N{NO-BREAK SPACE}", "_") == glued


@given(st.text(max_size=60))
def test_a_name_in_parts_is_the_same_text(name: str) -> None:
    """Whatever a chunker is called: it is escaped, whole, and breaks after a colon or comma only."""
    drawn = named(name)
    assert drawn.striptags() == Markup.escape(name).striptags()
    breaks = str(drawn).split('<wbr class="soft">')
    assert all(part.endswith((":</span>", ",</span>")) for part in breaks[:-1])
