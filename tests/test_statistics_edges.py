"""Counts, words and bounds of a comparison at the very place where they change."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from chunkers.errors import UsageError
from evaluation.statistics import Comparison, best_set, compare_pairs, mean_interval
from evaluation.statistics.bounded import bounded_mean
from evaluation.statistics.control import family_p, in_question, shared_correlation
from evaluation.statistics.samples import Samples, by_repository, fold, queries_of
from evaluation.statistics.scores import difference_span, score_span
from evaluation.statistics.student import student_t
from evaluation.statistics.types import Weight

NAN = math.nan


def row(first: list[float], second: list[float], clusters: list[str], **options: Any) -> Comparison:
    """Compare two rows."""
    (found,) = compare_pairs(np.array([first, second]), clusters, names=["a", "b"], **options)
    return found


def test_wins_ties_and_losses_are_counted_over_what_both_have() -> None:
    """Rounding is a tie; a query with one value only belongs to neither."""
    found = row([0.5, 0.5, 0.1 + 0.2, 0.4, NAN, 0.9], [0.4, 0.6, 0.3, 0.4, 0.1, NAN], ["r", "r", "r", "s", "s", "t"])
    assert (found.wins, found.ties, found.losses) == (1, 2, 1)
    assert (found.n_queries, found.undefined, found.n_clusters) == (4, 2, 2)
    assert (found.turned().wins, found.turned().losses, found.turned().ties) == (1, 1, 2)


@pytest.mark.parametrize("weight", ["repository", "query"])
def test_leaving_one_out_and_the_effect_are_what_they_say(weight: Weight) -> None:
    """Each repository is left out in turn; the effect is the difference over the deviation of the units."""
    rng = np.random.default_rng(0)
    sizes = [3, 1, 4, 2, 2, 5, 1]
    clusters = [f"r{k}" for k, size in enumerate(sizes) for _ in range(size)]
    first, second = rng.random(len(clusters)), rng.random(len(clusters))
    first[-1] = NAN  # the last repository has no value left
    found = row(list(first), list(second), clusters, weight=weight)
    means = {}
    for k in range(6):
        own = [a - b for a, b, c in zip(first, second, clusters, strict=True) if c == f"r{k}"]
        means[k] = (float(np.mean(own)), len(own) if weight == "query" else 1)

    def mean(of: list[int]) -> float:
        return sum(means[k][0] * means[k][1] for k in of) / sum(means[k][1] for k in of)

    left = [mean([k for k in means if k != out]) for out in means]
    assert found.difference == pytest.approx(mean(list(means)))
    assert (found.without_one_low, found.without_one_high) == pytest.approx((min(left), max(left)))
    if weight == "repository":
        deviation = np.std([mean for mean, _ in means.values()], ddof=1)
        assert found.effect == pytest.approx(found.difference / deviation)
    one = row([0.5, 0.6], [0.4, 0.1], ["r", "r"])
    assert math.isnan(one.without_one_low)
    assert math.isnan(one.without_one_high)


def test_a_family_is_never_smaller_than_its_pairs() -> None:
    """Three rows make three comparisons, whatever fewer is said; more is what is said; one row makes none."""
    scores = np.random.default_rng(0).random((3, 20))
    for said, size in ((None, 3), (1, 3), (3, 3), (4, 4)):
        found = compare_pairs(scores, ["r"] * 20, names=list("abc"), corrections=said)
        assert [each.family for each in found] == [size] * 3
    assert compare_pairs(scores[:1], ["r"] * 20, names=["a"]) == []
    assert compare_pairs(scores[:1], ["r"] * 20, names=["a"], family="a") == []


def test_decisions_at_the_edges_of_the_interval() -> None:
    """0 itself is in the interval, and the margin is not inside itself."""
    found = row([0.5] * 9, [0.5] * 9, ["r"] * 9)
    for low, high, shown, within, decision in (
        (0.0, 0.01, False, True, "practically the same"),
        (-0.01, 0.0, False, True, "practically the same"),
        (0.001, 0.01, True, True, "better"),
        (-0.01, -0.001, True, True, "better"),
        (-0.02, 0.01, False, False, "undecided"),
        (-0.01, 0.02, False, False, "undecided"),
        (-0.019, 0.019, False, True, "practically the same"),
        (0.01, 0.5, True, False, "better"),
        (NAN, NAN, False, False, "undecided"),
    ):
        each = replace(found, low=low, high=high, difference=(low + high) / 2, margin=0.02)
        assert (each.shown, each.within_margin, each.decision) == (shown, within, decision), (low, high)
        names = {(True, True): "a", (True, False): "b", (False, True): "b", (False, False): "a"}
        for higher in (True, False):
            better = replace(each, higher_is_better=higher).better
            assert better == (names[low > 0, higher] if shown else None)
    assert replace(found, caveats=("x", "y")).caveat == "x; y"
    assert replace(found, effect=0.5).turned().effect == -0.5
    assert found.turned().effect is None
    json.dumps(found.row(), allow_nan=False)


def test_a_range_is_given_known_or_what_is_seen() -> None:
    """Shares are known by their values up to rounding; a range that the scores leave is refused, at either end."""

    def span(scores: list[float], given: tuple[float, float] | None = None) -> tuple[float, float, bool]:
        return tuple(score_span(np.array([scores]), given))  # type: ignore[return-value] # of three

    assert span([0.0, 1.0]) == span([0.2, 0.3]) == span([-1e-10, 1 + 1e-10]) == span([NAN]) == (0, 1, True)
    assert span([-0.01, 0.5]) == (-0.01, 0.5, False)
    assert span([0.5, 1.01]) == (0.5, 1.01, False)
    assert span([1, 5], (0, 9)) == span([0, 9], (0, 9)) == span([-1e-10, 9 + 1e-10], (0, 9)) == (0, 9, True)
    assert span([NAN], (0, 0.5)) == (0, 0.5, True)
    for wrong in ([-0.1, 5], [1, 9.1]):
        with pytest.raises(UsageError, match="outside the measure's range, 0 to 9"):
            span(wrong, (0, 9))
    for ends in ((1.0, 1.0), (2.0, 1.0)):
        with pytest.raises(UsageError, match="cannot range from"):
            span([1], ends)
    assert tuple(difference_span(score_span(np.array([[2.0]]), (1, 5)))) == (-4, 4, True)


def test_what_the_repositories_forbid_is_said_in_words() -> None:
    """Missing values and repositories, few repositories, and one that holds more than half of the queries."""
    rng = np.random.default_rng(1)

    def caveats(sizes: list[int], *, missing: int = 0, weight: Weight = "repository") -> str:
        clusters = [f"r{k}" for k, size in enumerate(sizes) for _ in range(size)]
        first, second = rng.normal(0.5, 0.05, (2, len(clusters)))
        first[:missing] = NAN
        return row(list(first), list(second), clusters, weight=weight).caveat

    assert caveats([4] * 6) == ""
    assert caveats([4] * 7, missing=2) == "2 of 28 queries have no value and are left out"
    assert caveats([4] * 7, missing=4) == (
        "4 of 28 queries have no value and are left out; 1 of 7 repositories have no value and are left out"
    )
    few = "holds for these 5 repositories only: below 6 repositories, single queries are the unit"
    assert caveats([4] * 5) == few
    assert caveats([9]) == "holds for this repository only: below 6 repositories, single queries are the unit"
    assert caveats([6, 1, 1, 1, 1, 2]) == ""
    assert caveats([7, 1, 1, 1, 1, 2]) == "r0 holds 54 % of the queries and counts as one repository"
    assert caveats([1, 1, 7, 1, 1, 2], weight="query") == "r2 holds 54 % of the queries and decides most of this"
    assert caveats([6, 1, 1, 1, 1, 2], weight="query") == ""


def test_flips_of_skewed_queries_are_a_caveat() -> None:
    """Beyond a fifth of √n; symmetric ones are none, and neither is another test."""
    even, skewed = [0.1, -0.1] * 10, [0.4] + [0.01, -0.01] * 9 + [0.0]
    for values, test, said in ((even, "sign-flip", False), (skewed, "sign-flip", True), (skewed, "t", False)):
        found = row([0.5 + value for value in values], [0.5] * 20, ["r"] * 20, test=test)
        assert ("sign flips assume symmetric differences" in found.caveat) is said
        assert "a few repositories" not in found.caveat
        assert (found.flips > 0, found.exact) == (test == "sign-flip", False)
        assert (found.seed, found.test) == (0, test)


@pytest.mark.parametrize("repositories", [1, 8])
def test_sixty_equal_queries_are_certain_and_fewer_are_not(repositories: int) -> None:
    """The two do the same; a value that is missing is no equal one, and a mean of zeros is no comparison."""
    for queries, missing, certain in ((60, 0, True), (59, 0, False), (64, 4, True), (64, 5, False)):
        clusters = [f"r{k % repositories}" for k in range(queries)]
        first = np.full(queries, 0.5)
        first[:missing] = NAN
        found = row(list(first), [0.5] * queries, clusters)
        assert ((found.low, found.high) == (0, 0)) is certain
        assert "a few repositories" not in found.caveat
        assert (found.p, found.p_alone, found.shown) == (1, 1, False)
    interval = mean_interval(np.zeros(80), [f"r{k % repositories}" for k in range(80)])
    assert interval.high > 0


def test_a_set_in_which_nothing_can_be_compared() -> None:
    """One row, and rows without a common query: means and words, no interval and no exclusion."""
    one = best_set(np.array([[0.2, 0.4, 0.9]]), ["r", "r", "s"], names=["a"])
    assert (one.may_be_best, one.unit, one.method, one.n_units, one.family) == (("a",), "query", "none", 0, 1)
    assert one.standings[0].mean == pytest.approx((0.3 + 0.9) / 2)
    assert (one.standings[0].p, one.standings[0].rival) == (1.0, None)
    assert math.isnan(one.detectable)
    assert one.caveats == ("there is nothing to compare with",)
    apart = best_set(np.array([[0.2, 0.4, NAN, NAN], [NAN, NAN, 0.1, 0.9]]), ["r"] * 4, names=["a", "b"])
    assert set(apart.may_be_best) == {"a", "b"}
    assert [each.p for each in apart.standings] == [1, 1]
    assert "no query in common" in apart.caveats[0]
    assert apart.row()["detectable"] is None


def test_a_set_has_its_means_in_order_and_its_counts() -> None:
    """The best mean first, by repositories or by queries, whichever way is better; excluded ones by name."""
    rng = np.random.default_rng(2)
    clusters = [f"r{k % 7}" for k in range(63)]
    base = rng.uniform(0.4, 0.6, 63)
    scores = np.array([base, base + 0.001 * rng.random(63), base - 0.3])
    for higher, order, out in ((True, ("b", "a"), ("c",)), (False, ("c",), ("a", "b"))):
        found = best_set(scores, clusters, names=list("abc"), higher_is_better=higher)
        assert (found.may_be_best, found.excluded) == (order, out)
        assert (found.n_clusters, found.n_queries, found.n_units, found.family) == (7, 63, 7, 2)
        assert found.higher_is_better is higher
    assert found.standing("a").rival == "c"
    assert found.standing("a").difference == pytest.approx(0.3)
    assert found.standing("a").low > 0
    assert found.standing("c").high <= 0
    same = best_set(scores[[0, 0]], clusters, names=["a", "b"])
    assert [(each.difference, each.low, each.high) for each in same.standings] == [(0, 0, 0)] * 2
    assert math.isnan(same.detectable)


def test_a_set_in_which_most_pairs_can_show_nothing_has_no_detectable_difference() -> None:
    """One pair of near copies has a bound, and does not stand for those that have none."""
    rng = np.random.default_rng(3)
    clusters = [f"r{k}" for k, size in enumerate((80, 66, 60, 30, 15, 9, 6)) for _ in range(size)]
    scores = rng.uniform(0, 1, (4, len(clusters)))
    scores[3] = scores[2] + rng.normal(0, 0.001, len(clusters))
    scores = scores.clip(0, 1)
    near = best_set(scores[2:], clusters, names=list("cd"), weight="query")
    assert 0 < near.detectable < 0.1
    assert math.isnan(best_set(scores, clusters, names=list("abcd"), weight="query").detectable)


def test_what_has_no_better_side_is_different_and_not_better() -> None:
    """The numbers are the same; neither of the two is the better one."""
    scores, clusters = np.array([np.full(80, 0.9), np.linspace(0.1, 0.3, 80)]), [f"r{k % 8}" for k in range(80)]
    (plain,), (found,) = (
        compare_pairs(scores, clusters, names=["a", "b"], higher_is_better=higher) for higher in (True, None)
    )
    assert (found.low, found.high, found.p, found.shown) == (plain.low, plain.high, plain.p, True)
    assert (plain.decision, plain.better) == ("better", "a")
    assert (found.decision, found.better, found.turned().better) == ("different", None, None)
    (same,) = compare_pairs(scores[[0, 0]], clusters, names=["a", "b"], higher_is_better=None)
    assert same.decision == "practically the same"


def test_units_have_weights_that_sum_to_1() -> None:
    """Repositories or queries, each repository or each query counting once; what has no value weighs nothing."""
    values = np.array([[1.0, 3.0, NAN, 5.0, NAN], [NAN] * 5])
    clusters = ["b", "b", "b", "a", "c"]
    found = by_repository(values, clusters)
    assert found.labels == ["a", "b", "c"]
    assert found.sizes.tolist() == [[1, 2, 0], [0, 0, 0]]
    assert found.means.tolist() == [[5, 2, 0], [0, 0, 0]]
    assert found.counts.tolist() == [2, 0]
    assert found.weights("repository").tolist() == [[0.5, 0.5, 0], [0, 0, 0]]
    np.testing.assert_allclose(found.weights("query"), [[1 / 3, 2 / 3, 0.0], [0.0, 0.0, 0.0]])
    queries = queries_of(values, clusters, weight="repository")
    assert queries.weights.tolist() == [[0.25, 0.25, 0, 0.5, 0], [0] * 5]
    np.testing.assert_allclose(queries_of(values, clusters, weight="query").weights[0], [1 / 3, 1 / 3, 0, 1 / 3, 0])
    assert queries.counts.tolist() == [3, 0]
    assert queries.estimates[0] == pytest.approx(3.5)
    assert math.isnan(queries.estimates[1])
    wide = np.vstack([np.arange(6.0), [0, 1, 2, 3, 4, NAN]])
    grouped = fold(wide, list("abcdef"), weight="repository")
    assert [(unit, rows.tolist()) for unit, (rows, _) in grouped.items()] == [("repository", [0]), ("query", [1])]
    assert list(fold(wide[:1], list("abcdef"), weight="query")) == ["repository"]


def test_guarding_bounds_are_looked_for_only_where_they_matter() -> None:
    """A bound beyond the limit is that bound, one inside it is infinitely far: neither changes what is less."""
    rng = np.random.default_rng(4)
    values = rng.normal(0.1, 0.3, (6, 12)).clip(-1, 1)
    weights = rng.random((6, 12))
    weights /= weights.sum(axis=1, keepdims=True)
    found = bounded_mean(Samples(values, weights, "query", "query"), least=-1.0, most=1.0)
    for level in (0.05, 0.01):
        low, high = found.lower(level), found.upper(level)
        assert found.lower_if_below(low + 1e-6, level) == pytest.approx(low, abs=1e-8)
        assert np.isposinf(found.lower_if_below(low - 1e-6, level)).all()
        assert found.upper_if_above(high - 1e-6, level) == pytest.approx(high, abs=1e-8)
        assert np.isneginf(found.upper_if_above(high + 1e-6, level)).all()
    levels = np.array([0.001, 0.01, 0.02, 0.03, 0.04, 0.05])
    apart = [found.lower(float(level))[k] for k, level in enumerate(levels)]
    assert found.lower(levels) == pytest.approx(apart, abs=1e-7)
    assert np.isposinf(found.lower_if_below(np.full(6, -1.0), 0.05)).all()


def test_bounds_of_values_at_the_ends_of_their_range() -> None:
    """All at the least: no lower bound above it; all at the most: by Clopper and Pearson; nothing at all: the ends."""
    equal = np.full((1, 10), 0.1)
    for value, low, high in ((0.0, 0.0, 1 - 0.05 ** (1 / 10)), (1.0, 0.05 ** (1 / 10), 1.0)):
        found = bounded_mean(Samples(np.full((1, 10), value), equal, "query", "query"), least=0.0, most=1.0)
        assert found.lower(0.05)[0] == pytest.approx(low, abs=0.005)
        assert found.upper(0.05)[0] == pytest.approx(high, abs=0.005)
        assert found.errors[0] == 0
    nothing = bounded_mean(Samples(np.zeros((1, 4)), np.zeros((1, 4)), "query", "query"), least=-1.0, most=1.0)
    assert (nothing.lower(0.05)[0], nothing.upper(0.05)[0]) == (-1, 1)
    assert (nothing.p_above()[0], nothing.p_below()[0]) == (1, 1)


def test_t_of_equal_and_of_symmetric_units() -> None:
    """Equal values leave no doubt, also up to rounding; zeros and a mean of 0 leave all of it."""

    def of(values: list[float]) -> tuple[float, float]:
        weights = np.full((1, len(values)), 1 / len(values))
        found = student_t(Samples(np.array([values]), weights, "repository", "repository"))
        return float(found.p_above()[0]), float(found.p_below()[0])

    assert of([0.3, 0.3, 0.3]) == (0, 1)
    assert of([0.1 + 0.2, 0.3, 0.3]) == (0, 1)
    assert of([-0.3, -0.3]) == (1, 0)
    assert of([0.0, 0.0, 0.0]) == (0.5, 0.5)
    exact = stats.ttest_1samp([0.1, 0.4, 0.7], 0, alternative="greater").pvalue
    assert of([0.1, 0.4, 0.7]) == pytest.approx((exact, 1 - exact))
    assert of([0.4, -0.4, 0.0]) == pytest.approx((0.5, 0.5))


def test_one_that_is_exactly_too_far_behind_is_not_in_question() -> None:
    """At 1.5 errors behind it is not, a little less it is; without freedom there is one degree of it."""
    far = np.full(3, 1000.0)
    share = 1 - special.ndtr(-1.5)
    assert in_question(np.array([-1.5, 0.0, -1.5]), far) == pytest.approx(1 / share, rel=1e-3)
    assert in_question(np.array([-1.499, 0.0, -1.5]), far) == pytest.approx(2 / share, rel=1e-3)
    one = 1 - stats.t.cdf(-1.5, 1)
    for freedom in (0.0, 1.0):
        assert in_question(np.array([0.0, -9.0]), np.full(2, freedom)) == pytest.approx(1 / one)


def test_few_units_correlate_a_little_less() -> None:
    """Two over their number is taken off; rows against each other have none; a row of zeros adds nothing."""
    parts = np.array([[1.0, -1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]])
    assert shared_correlation(parts) == pytest.approx(1 - 2 / 4)
    assert shared_correlation(np.array([[1.0, -1.0, 0, 0], [1.0, 0, -1.0, 0]])) == pytest.approx(0.5 * 0.5)
    assert shared_correlation(parts * [[1], [-1]]) == 0
    assert shared_correlation(np.vstack([parts, np.zeros(4)])) == pytest.approx(0.5 * 2 / 6)


def test_a_family_of_one_and_certain_p() -> None:
    """One comparison is not corrected; p of 0 and 1 stay; correlations beyond their ends count as these."""
    p = np.array([0.0, 0.2, 1.0])
    assert family_p(p, np.ones(3), np.full(3, 0.5)) == pytest.approx(p)
    for low, high in ((0.95, 0.9), (-0.5, 0.0)):
        assert family_p(p, np.full(3, 4.0), np.full(3, low)) == pytest.approx(
            family_p(p, np.full(3, 4.0), np.full(3, high))
        )
    assert family_p(np.array([0.2]), np.array([4.0]), np.array([0.0]))[0] == pytest.approx(1 - 0.8**4, rel=1e-6)


def test_values_that_another_lacks_do_not_unguard_a_pair() -> None:
    """Whether queries guard a comparison depends on its own queries, not on those that a third has values for."""
    clusters = [str(k) for k in range(6) for _ in range(12)]
    gain = 0.018 + np.random.default_rng(0).normal(0, 0.003, 72)
    a, b = 0.5 + gain / 2, 0.5 - gain / 2
    few = np.where(np.arange(72) % 12 == 0, b, NAN)
    (alone,) = compare_pairs(np.array([a, b]), clusters, names=["a", "b"])
    beside, third = compare_pairs(np.array([a, b, few]), clusters, names=["a", "b", "few"], family="b")
    assert alone.decision == beside.decision == "undecided"
    assert (beside.low_alone, beside.high_alone) == (alone.low_alone, alone.high_alone)
    (by_itself,) = compare_pairs(np.array([few, b]), clusters, names=["few", "b"])
    assert (third.low_alone, third.high_alone) == (by_itself.low_alone, by_itself.high_alone)
    assert best_set(np.array([a, b, few]), clusters, names=["a", "b", "few"]).standing("b").may_be_best


def test_what_is_equal_everywhere_stays_equal_among_many() -> None:
    """Sums that many rows share are rounded; a row of zeros beside them is still one of zeros, in any order."""
    for seed, size, order in ((162, 9, [0, 2, 3, 1]), (185, 7, [0, 2, 1, 3]), (33, 12, [0, 4, 3, 2, 1])):
        scores = np.random.default_rng(seed).random((len(order), size)).round(2)
        scores[1] = scores[0]
        names, clusters = [str(k) for k in order], [str(k) for k in range(size)]
        found = compare_pairs(scores[order], clusters, names=names, test="sign-flip", flips=5000)
        (same,) = (row for row in found if {row.a, row.b} == {"0", "1"})
        assert (same.p_alone, same.low_alone, same.high_alone) == (1, 0, 0)


def test_repositories_may_have_other_names() -> None:
    """A skewness of exactly Cochran's limit is on it, in whatever order the repositories are added up."""
    first = np.array([0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1.0])
    second = np.array([1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0.0])
    clusters = [0, 2, 3, 4, 5, 4, 3, 2, 6, 6, 3, 4, 0, 0]
    ends = []
    for renamed in ([f"r{k}" for k in clusters], [f"z{9 - k}" for k in clusters]):
        (row,) = compare_pairs(np.array([first, second]), renamed, names=["a", "b"])
        ends.append((row.low, row.high))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weight": "queries"}, "weight 'queries' is not known: give 'repository' or 'query'"),
        ({"test": "sign_flip"}, "test 'sign_flip' is not known: give 't' or 'sign-flip'"),
        ({"flips": 0}, "flips must be at least 1, not 0"),
        ({"corrections": 0}, "corrections must be at least 1, not 0"),
    ],
)
def test_an_option_that_is_not_known_is_refused(options: dict[str, Any], said: str) -> None:
    """It would stand for another estimand or procedure, or for none."""
    scores, clusters = np.random.default_rng(0).random((2, 8)), [str(k) for k in range(8)]
    for call in (compare_pairs, best_set):
        with pytest.raises(UsageError, match=said):
            call(scores, clusters, names=["a", "b"], **options)


def test_what_cannot_be_compared_is_refused_in_one_line() -> None:
    """Words for scores, rows of several lengths, margins below nothing, nobody."""
    for scores in ([["x", "y"], ["z", "w"]], [[1.0, 2.0], [3.0]]):
        for call in (compare_pairs, best_set):
            with pytest.raises(UsageError, match=r"^scores are not rows of as many numbers each: .+$"):
                call(scores, ["r", "r"], names=["a", "b"])  # type: ignore[arg-type] # that is the mistake
    for margin in (-0.1, NAN):
        with pytest.raises(UsageError, match="the margin must be at least 0"):
            compare_pairs(np.zeros((2, 2)), ["r", "r"], names=["a", "b"], margin=margin)
    with pytest.raises(UsageError, match="nothing to compare"):
        best_set(np.zeros((0, 2)), ["r", "r"], names=[])


@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_few_equal_queries_that_nothing_guards_decide_nothing(factor: float) -> None:
    """Differences of 0 are a certain 0 to t; one query per repository, or no range, leaves nothing to doubt it."""
    for count, decision in ((6, "undecided"), (59, "undecided"), (60, "practically the same")):
        scores, clusters = np.full((3, count), 0.5 * factor), [str(k) for k in range(count)]
        scores[2] += 0.1 * factor * np.linspace(-1, 1, count)
        first, *_ = compare_pairs(scores, clusters, names=["a", "b", "c"])
        assert (first.p, first.shown, first.decision) == (1, False, decision)
        assert first.low <= 0 <= first.high
        assert set(best_set(scores, clusters, names=["a", "b", "c"]).may_be_best) == {"a", "b", "c"}


def test_a_query_per_repository_is_a_caveat() -> None:
    """Rare large differences are looked for among queries; from two for each repository on they are."""
    rng = np.random.default_rng(0)
    for size, noted in ((1, True), (2, False)):
        scores, clusters = rng.random((2, 8 * size)), [str(k // size) for k in range(8 * size)]
        (found,) = compare_pairs(scores, clusters, names=["a", "b"])
        assert ("fewer than two queries per repository" in found.caveat) is noted
        assert ("fewer than two" in " ".join(best_set(scores, clusters, names=["a", "b"]).caveats)) is noted
