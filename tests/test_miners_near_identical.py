"""Places that answer a question as well: those whose bodies share most of their lines."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground_truth.miners.finds import FileFinds, Found, join_finds, pack_finds
from ground_truth.miners.places import MIN_DISTINCT_LINES, NEAR, near_identical

BODIES = st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), min_size=1), min_size=1, max_size=12)


def place(body: str | frozenset[str], lines: tuple[int, int] = (1, 5), reason: str = "") -> Found:
    """Return a place whose body has these lines, a letter each."""
    return Found("name", "what it does", *lines, frozenset(body), reason)


def near(*files: Sequence[Found]) -> dict[int, list[int]]:
    """Return which places are like which, numbered through all files."""
    _, (finds,) = join_finds([pack_finds([FileFinds([], found)]) for found in files], 1)
    return near_identical(finds.places)


@settings(deadline=None)
@given(bodies=BODIES)
def test_every_near_identical_place_is_found(bodies: list[frozenset[str]]) -> None:
    """Compared with all others one by one: shared lines are at least so large a part of all lines of both."""
    found = near(*([place(body)] for body in bodies))
    for one, ours in enumerate(bodies):
        alike = [n for n, theirs in enumerate(bodies) if n != one and len(ours & theirs) >= NEAR * len(ours | theirs)]
        assert found.get(one, []) == (alike if len(ours) >= MIN_DISTINCT_LINES else [])


@pytest.mark.parametrize(
    ("own", "other", "is_near"),
    [
        ("abcd", "abcd", True),
        ("abcd", "abcde", True),
        ("abcd", "abcx", False),
        ("abcdefghi", "abcdefghj", True),
        ("abcdefgh", "abcdefgj", False),
        ("abc", "abc", False),
    ],
)
def test_bodies_that_share_eight_of_ten_lines_answer_the_same(own: str, other: str, *, is_near: bool) -> None:
    """Exactly 0.8 of the lines that either has is enough, from four lines on."""
    assert near([place(own)], [place(other)]) == ({0: [1], 1: [0]} if is_near else {})


def test_lines_that_many_places_share_say_nothing() -> None:
    """Sixty places of the same four lines are none of each other's; with one rare line more, two of them are."""
    found = near(*([place("abcd")] for _ in range(60)), *([place("abcde")] for _ in range(2)))
    assert found == {60: [61], 61: [60]}


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize(("count", "found"), [(49, 49), (50, 0)])
def test_lines_of_more_than_fifty_bodies_find_nothing(count: int, found: int, *, short: bool) -> None:
    """With the one that asks, fifty bodies are few enough and fifty-one are not; bodies of one line count too."""
    others = [[place("abcd")]] * (1 if short else count)
    lines = [[place(line, reason="too short")] for line in "abcd" for _ in range(count - 1)] if short else []
    assert len(near([place("abcd")], *others, *lines).get(0, [])) == (min(found, 1) if short else found)


def test_a_place_that_overlaps_is_no_other_place() -> None:
    """Lines of the same file that touch are the same place; the next line is another one, and any of another file."""
    body = "abcdef"
    for lines, other in (((20, 29), True), ((19, 29), False), ((1, 9), True), ((1, 10), False)):
        assert near([place(body, (10, 19)), place(body, lines)]) == ({0: [1], 1: [0]} if other else {})
    assert near([place(body, (10, 19))], [place(body, (10, 19))]) == {0: [1], 1: [0]}
    whole, inner, below = (place(body, lines) for lines in ((1, 9), (9, 12), (10, 18)))
    assert near([whole, inner, below]) == {0: [2], 2: [0]}


def test_what_is_not_asked_answers_and_asks_nothing() -> None:
    """It is like the place that asks, and nothing is looked for on its behalf."""
    assert near([place("abcd")], [place("abcd", reason="too short")]) == {0: [1]}
    assert near() == near([]) == near([place("")]) == {}
