"""How much better one candidate may be than another, and how far off a mean may be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from evaluation.recommend.bounds import Scale, Scored, upper_bounds, variances

NAMES = ("a", "b", "c", "d")
PAIRS = [(one, other) for one in NAMES for other in NAMES if one != other]


def scored(seed: int, *, repositories: int = 9, queries: int = 5) -> Scored:
    """Return scores of four candidates that share much of their luck."""
    rng = np.random.default_rng(seed)
    shared = rng.random(repositories * queries)
    values = np.clip(0.6 * shared + 0.3 * rng.random((len(NAMES), len(shared))) + [[0.0], [0.02], [0.05], [0.0]], 0, 1)
    return Scored(NAMES, values, [f"r{number // queries}" for number in range(len(shared))])


@pytest.mark.parametrize("seed", range(4))
def test_where_lower_is_better_bounds_are_those_of_the_mirror_image(seed: int) -> None:
    """A loss counted from above says what the score counted from below says."""
    plain = scored(seed)
    mirrored = plain._replace(values=1 - plain.values)
    higher = upper_bounds(plain, PAIRS, level=0.05, rivals=3, scale=Scale())
    lower = upper_bounds(mirrored, PAIRS, level=0.05, rivals=3, scale=Scale(higher_is_better=False))
    assert lower == pytest.approx(higher, abs=1e-12)
    assert (Scale().sign, Scale(higher_is_better=False).sign) == (1, -1)


def bound(found: Scored, *, level: float = 0.05, rivals: int = 3) -> float:
    """Return how much better the first may be than the second, as one of its comparisons with all others."""
    return upper_bounds(found, PAIRS, level=level, rivals=rivals, scale=Scale())["a", "b"]


def test_rivals_that_are_alike_count_as_fewer() -> None:
    """However far ahead they are: copies of one rival need less correction than rivals with luck of their own."""
    rng = np.random.default_rng(6)
    own = rng.random((4, 60)) * 0.4 + [[0.0], [0.5], [0.5], [0.5]]
    clusters = [f"r{number}" for number in range(60)]
    copies = own.copy()
    copies[2:] = copies[1]
    apart, alike = (Scored(NAMES, values, clusters) for values in (own, copies))
    assert bound(apart) > bound(alike) + 0.002
    assert bound(apart, rivals=1) < bound(apart, rivals=3) < bound(apart, rivals=30) <= 1.0
    assert bound(apart, level=0.05) < bound(apart, level=0.01)
    assert bound(apart, rivals=0) == bound(apart, rivals=1)
    assert upper_bounds(apart, [], level=0.05, rivals=3, scale=Scale()) == {}


def test_what_one_candidate_alone_scored_says_nothing_of_its_distance_from_others() -> None:
    """On a query that nobody else has a value for, any value has the same variance about what is shared."""
    plain = scored(3)
    values = plain.values.copy()
    values[1:, 7] = np.nan
    found = []
    for value in (0.0, 0.4, 1.0):
        values[0, 7] = value
        found.append(variances(plain._replace(values=values.copy()), Scale()))
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert found[0] == pytest.approx(found[2], rel=1e-12)
    assert (found[0] > 0).all()


def test_variances_are_those_of_means_about_the_shared_one() -> None:
    """One query to a repository: the spread of each one's distance from the mean of all, half drawn to the middle."""
    plain = scored(4, repositories=12, queries=1)
    apart = plain.values - plain.values.mean(axis=0)
    own = apart.var(axis=1, ddof=1) / 12 * 4 / 3
    assert variances(plain, Scale()) == pytest.approx((own + own.mean()) / 2, rel=1e-9)
    assert np.isnan(variances(scored(5, repositories=1, queries=1), Scale())).all()
    assert len(variances(Scored([], np.zeros((0, 3)), ["r"] * 3), Scale())) == 0


def test_two_values_are_enough_for_a_variance() -> None:
    """Of two candidates and two queries: half of the squared difference of each one's distances, twice, over two."""
    found = variances(Scored(["a", "b"], np.array([[0.2, 0.8], [0.3, 0.5]]), ["r", "s"]), Scale())
    apart = np.array([[-0.05, 0.15], [0.05, -0.15]])
    own = apart.var(axis=1, ddof=1) / 2 * 2
    assert found == pytest.approx((own + own.mean()) / 2)


def test_a_single_comparison_has_the_bound_of_students_t() -> None:
    """One rival needs no correction; the mean and 1.67 standard errors of 60 repositories, never beyond the range."""
    rng = np.random.default_rng(8)
    values = rng.random((2, 60)) * 0.5
    found = upper_bounds(
        Scored(["a", "b"], values, [f"r{k}" for k in range(60)]), [("a", "b")], level=0.05, rivals=1, scale=Scale()
    )
    difference = values[0] - values[1]
    expected = difference.mean() + student.ppf(0.95, 59) * difference.std(ddof=1) / np.sqrt(60)
    assert found["a", "b"] == pytest.approx(expected)
    nothing = Scored(["a", "b"], np.array([[np.nan], [0.5]]), ["r"])
    assert upper_bounds(nothing, [("a", "b")], level=0.05, rivals=1, scale=Scale()) == {("a", "b"): 1.0}
