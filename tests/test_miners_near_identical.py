"""Places that answer a question as well: those whose bodies share most of their lines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ground_truth.miners.selection import MIN_DISTINCT_LINES, NEAR, Candidate, NearIdentical

BODIES = st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), min_size=1), min_size=1, max_size=12)


def place(path: str, body: frozenset[str], lines: tuple[int, int] = (1, 5)) -> Candidate:
    """Return a place of a repository."""
    return Candidate(path, "python", "name", "what it does", *lines, body)


@settings(deadline=None)
@given(bodies=BODIES)
def test_every_near_identical_place_is_found(bodies: list[frozenset[str]]) -> None:
    """Compared with all others one by one: shared lines are at least so large a part of all lines of both."""
    places = [place(f"{number}.py", body) for number, body in enumerate(bodies)]
    found = NearIdentical(places)
    for one in places:
        others = [other for other in places if other is not one]
        near = [other for other in others if len(one.body & other.body) >= NEAR * len(one.body | other.body)]
        assert found.of(one) == (near if len(one.body) >= MIN_DISTINCT_LINES else [])


def test_lines_that_many_places_share_say_nothing() -> None:
    """Sixty places of the same four lines are none of each other's; with one rare line more, two of them are."""
    common = frozenset("abcd")
    many = [place(f"{number}.py", common) for number in range(60)]
    rare = [place(f"rare{number}.py", common | {"e"}) for number in range(2)]
    found = NearIdentical([*many, *rare])
    assert found.of(many[0]) == []
    assert found.of(rare[0]) == [rare[1]]


def test_a_place_that_overlaps_is_no_other_place() -> None:
    """The method inside a class is not near-identical to it; the same lines below it are."""
    body = frozenset("abcdef")
    whole, inner, below = (place("a.py", body, lines) for lines in ((1, 9), (9, 12), (10, 18)))
    found = NearIdentical([whole, inner, below])
    assert found.of(whole) == [below]
    assert found.of(inner) == []
