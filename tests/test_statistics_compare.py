"""Comparisons agree with textbook tests, never contradict themselves, and hide no missing value."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chunkers.errors import UsageError
from evaluation.statistics import SIGNIFICANT, Comparison, TestName, Weight, compare_pairs

TESTS: tuple[TestName, ...] = get_args(TestName)
WEIGHTS: tuple[Weight, ...] = get_args(Weight)


def _scores(rows: int, queries: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, queries))


def _repositories(count: int, queries: int) -> list[str]:
    return [f"r{k % count}" for k in range(queries)]


def _one(first: np.ndarray, second: np.ndarray, clusters: list[str], **options: Any) -> Comparison:
    (found,) = compare_pairs(np.array([first, second]), clusters, names=["a", "b"], **options)
    return found


def _agrees(row: Comparison) -> bool:
    """Whether p, interval, `shown` and decision say the same, corrected and alone."""
    corrected = row.low > 0 or row.high < 0
    alone = row.low_alone > 0 or row.high_alone < 0
    return (
        corrected == row.shown == (row.p <= SIGNIFICANT) == (row.decision == "better")
        and alone == (row.p_alone <= SIGNIFICANT)
        and (row.decision != "practically the same" or (-row.margin < row.low and row.high < row.margin))
        and not (row.shown and not alone)
    )


def test_each_repository_counts_once_and_p_and_interval_are_students() -> None:
    """Means of repositories that are not skewed are compared by the textbook t test and its interval."""
    means = np.array([10.0, 20, 30, 12, 18, 25, 21, 15])
    sizes = [3, 40, 5, 8, 12, 60, 4, 20]
    clusters = [f"r{k}" for k, size in enumerate(sizes) for _ in range(size)]
    first = np.repeat(means, sizes)
    row = _one(first, np.zeros(len(first)), clusters)
    theirs = stats.ttest_1samp(means, 0)
    interval = theirs.confidence_interval()
    assert (row.difference, row.p) == pytest.approx((means.mean(), theirs.pvalue))
    assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
    assert (row.unit, row.n_units, row.weight, row.method) == ("repository", 8, "repository", "t over repositories")


def test_each_query_counts_once_by_option() -> None:
    """The estimate is the plain mean; without skew, t over weight·(mean - μ) is at its level at both ends μ."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(4, 12, 9)
    clusters = [f"r{k}" for k, size in enumerate(sizes) for _ in range(size)]
    values = rng.normal(10, 30, sizes.sum())
    row = _one(values, np.zeros(len(values)), clusters, weight="query")
    assert row.difference == pytest.approx(values.mean())
    means = np.array([values[np.array(clusters) == f"r{k}"].mean() for k in range(9)])
    for end in (row.low, row.high):
        assert stats.ttest_1samp(sizes * (means - end), 0).pvalue == pytest.approx(0.05, abs=1e-6)


def test_flips_are_scipys_exact_permutation_test() -> None:
    """With few queries every flip is tried, and the p is scipy's exact one."""
    scores = _scores(2, 9, seed=3)
    ours = _one(scores[0], scores[1], ["r"] * 9, test="sign-flip")
    theirs = stats.permutation_test(
        (scores[0], scores[1]), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=2**9
    )
    assert (ours.exact, ours.flips) == (True, 2**9)
    assert ours.p == pytest.approx(theirs.pvalue)


def test_sampled_flips_agree_with_scipys_within_sampling_error() -> None:
    """With many queries flips are sampled, and the p differs from scipy's by sampling alone."""
    first = np.random.default_rng(5).normal(0.12, 1, 200)
    ours = _one(first, np.zeros(200), ["r"] * 200, flips=50_000, test="sign-flip")
    assert ours.p == pytest.approx(stats.ttest_rel(first, np.zeros(200)).pvalue, abs=0.02)
    again = _one(first, np.zeros(200), ["r"] * 200, flips=50_000, test="sign-flip")
    assert (ours.p, ours.low) == (again.p, again.low)


def test_the_interval_of_flips_is_their_inversion() -> None:
    """A shift by just less than a bound is shown, by just more it is not."""
    scores = _scores(2, 14, seed=9)
    row = _one(scores[0], scores[1], _repositories(7, 14), test="sign-flip")
    for end, sign in ((row.low, 1), (row.high, -1)):
        inside, outside = (scores[1] + end + sign * nudge for nudge in (1e-6, -1e-6))
        assert not _one(scores[0], inside, _repositories(7, 14), test="sign-flip").shown
        assert _one(scores[0], outside, _repositories(7, 14), test="sign-flip").shown


@pytest.mark.parametrize("right", [0, 3, 7, 10])
def test_shares_of_one_repository_have_clopper_and_pearsons_interval(right: int) -> None:
    """Queries that are won or lost whole are a binomial sample: half of (1 + difference) is its share."""
    won = np.array([1.0] * right + [0.0] * (10 - right))
    row = _one(won, 1 - won, ["r"] * 10)
    exact = stats.binomtest(right, 10).proportion_ci(method="exact")
    assert (row.low, row.high) == pytest.approx((2 * exact.low - 1, 2 * exact.high - 1), abs=0.01)
    assert row.p == pytest.approx(
        min(1.0, stats.binomtest(right, 10).pvalue), rel=0.03, abs=0.25 if right == 3 else 0.01
    )


def test_many_queries_of_one_repository_have_about_the_normal_interval() -> None:
    """The bounds that hold for any shape cost little where the mean is normal."""
    values = np.random.default_rng(1).uniform(0, 1, 3000)
    row = _one(values, np.full(3000, 0.5), ["r"] * 3000)
    half = 1.96 * values.std() / np.sqrt(3000)
    assert row.high - row.low == pytest.approx(2 * half, rel=0.12)
    assert row.method == "bounded mean over queries"
    assert "this repository only" in row.caveat


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 5),
    queries=st.integers(1, 40),
    repositories=st.integers(1, 12),
    digits=st.integers(0, 3),
    test=st.sampled_from(TESTS),
    weight=st.sampled_from(WEIGHTS),
    holes=st.booleans(),
)
def test_nothing_contradicts_itself(
    *,
    seed: int,
    rows: int,
    queries: int,
    repositories: int,
    digits: int,
    test: TestName,
    weight: Weight,
    holes: bool,
) -> None:
    """p, interval, `shown` and decision agree alone and corrected, for any sizes, ties and missing values."""
    rng = np.random.default_rng(seed)
    scores = (rng.random((rows, queries)) * rng.random((rows, 1))).round(digits)
    if holes:
        scores[rng.random(scores.shape) < 0.3] = np.nan
    clusters = [f"r{k}" for k in rng.integers(0, repositories, queries)]
    names = [f"c{k}" for k in range(rows)]
    found = compare_pairs(scores, clusters, names=names, test=test, weight=weight, flips=999, margin=0.2)
    assert all(_agrees(row) for row in found)
    for row in found:
        assert row.wins + row.ties + row.losses == row.n_queries == queries - row.undefined
        if row.n_queries:
            assert not row.low > row.difference + 1e-9
            assert not row.high < row.difference - 1e-9
            assert row.without_one_low <= row.difference + 1e-9 or np.isnan(row.without_one_low)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 30), st.sampled_from(TESTS))
def test_a_comparison_turns_with_its_sides(seed: int, rows: int, queries: int, test: TestName) -> None:
    """Swapping two rows negates the difference and the interval and keeps p, wins and losses in step."""
    scores = _scores(rows, queries, seed=seed).round(1)
    names = [f"c{k}" for k in range(rows)]
    clusters = _repositories(7, queries)
    there = compare_pairs(scores, clusters, names=names, test=test)
    back = {(row.b, row.a): row for row in compare_pairs(scores[::-1], clusters, names=names[::-1], test=test)}
    for row in there:
        other = back[row.a, row.b].turned()
        assert (row.a, row.b, row.wins, row.losses) == (other.a, other.b, other.wins, other.losses)
        for name in ("difference", "low", "high", "low_alone", "high_alone", "without_one_low", "p", "p_alone"):
            assert getattr(row, name) == pytest.approx(getattr(other, name), abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("test", TESTS)
def test_rows_that_are_the_same_are_practically_the_same(test: TestName) -> None:
    """A pair that never differs has p = 1 and an interval of 0; on few queries that is no proof."""
    scores = np.vstack([_scores(1, 300), _scores(1, 300)])
    for repositories in (1, 8):
        row = _one(scores[0], scores[1], _repositories(repositories, 300), test=test, flips=1000)
        assert (row.p, row.low, row.high, row.effect, row.ties) == (1.0, 0.0, 0.0, None, 300)
        assert row.decision == "practically the same"
        assert "same score on every query" in row.caveat
    few = _one(scores[0][:5], scores[1][:5], ["r"] * 5)
    assert few.decision == "undecided"


def test_a_difference_that_is_everywhere_the_same_is_shown_from_enough_queries_on() -> None:
    """Without any spread, the number of queries decides: a rare loss may have been missed."""
    many = _one(np.full(80, 0.8), np.full(80, 0.5), _repositories(8, 80))
    assert (many.decision, many.better) == ("better", "a")
    few = _one(np.full(3, 0.8), np.full(3, 0.5), ["r"] * 3)
    assert few.decision == "undecided"


def test_one_query_and_no_value_decide_nothing() -> None:
    """One query has an interval from end to end, none has no interval; both have p = 1 and say so."""
    one = _one(np.array([1.0]), np.array([0.0]), ["r"])
    assert (one.p, one.shown, one.n_queries) == (1.0, False, 1)
    none = _one(np.full(9, np.nan), np.zeros(9), ["r"] * 9)
    assert (none.p, none.decision, none.n_units) == (1.0, "undecided", 0)
    assert np.isnan([none.difference, none.low, none.high, none.detectable]).all()
    assert none.row()["low"] is None
    assert "nothing is compared" in none.caveat


def test_a_missing_value_leaves_its_pair_and_is_counted() -> None:
    """A NaN drops the query from the pairs it belongs to only, and the caveat has the count."""
    scores = _scores(3, 50)
    scores[0, :4] = np.nan
    rows = {(row.a, row.b): row for row in compare_pairs(scores, ["r"] * 50, names=list("abc"))}
    assert (rows["a", "b"].n_queries, rows["a", "b"].undefined) == (46, 4)
    assert "4 of 50 queries have no value" in rows["a", "b"].caveat
    assert rows["b", "c"].n_queries == 50
    alone = _one(scores[0, 4:], scores[1, 4:], ["r"] * 46)
    assert (rows["a", "b"].difference, rows["a", "b"].low_alone) == pytest.approx((alone.difference, alone.low))


def test_a_pair_with_too_few_repositories_left_falls_back_to_queries() -> None:
    """Missing values may leave one pair with five repositories: it alone is compared over queries."""
    scores = _scores(3, 60)
    clusters = _repositories(6, 60)
    scores[0, ::6] = np.nan
    units = {(row.a, row.b): row.unit for row in compare_pairs(scores, clusters, names=list("abc"))}
    assert units == {("a", "b"): "query", ("a", "c"): "query", ("b", "c"): "repository"}


def test_a_baseline_makes_a_smaller_family() -> None:
    """Against a baseline there is one comparison per other row, and a typo is named."""
    scores = _scores(4, 30)
    rows = compare_pairs(scores, ["r"] * 30, names=["w", "x", "y", "z"], family="y")
    assert [(row.a, row.b, row.family) for row in rows] == [("w", "y", 3), ("x", "y", 3), ("z", "y", 3)]
    with pytest.raises(UsageError, match="baseline 'q'"):
        compare_pairs(scores, ["r"] * 30, names=["w", "x", "y", "z"], family="q")


def test_a_statement_about_more_than_this_family_is_corrected_for_all() -> None:
    """``corrections`` widens intervals and raises p as a larger family would."""
    scores = _scores(2, 80)
    plain, wide = (_one(scores[0], scores[1], _repositories(8, 80), corrections=count) for count in (1, 10))
    assert wide.p == pytest.approx(min(1.0, 10 * plain.p))
    assert wide.low < plain.low
    assert wide.low_alone == plain.low


def test_leaving_one_repository_out_gives_the_range() -> None:
    """One repository that makes the difference shows in the range without it."""
    first = np.zeros(70)
    first[:10] = 1.0
    clusters = [f"r{k // 10}" for k in range(70)]
    row = _one(first, np.zeros(70), clusters)
    assert row.difference == pytest.approx(1 / 7)
    assert (row.without_one_low, row.without_one_high) == pytest.approx((0.0, 1 / 6))


def test_what_could_be_shown_is_shown_in_four_of_five_cases() -> None:
    """A true difference as large as the detectable one is shown with about 80 % power."""
    rng = np.random.default_rng(0)
    clusters = _repositories(12, 240)

    def draw(effect: float) -> np.ndarray:
        return np.asarray(
            (0.4 + effect + rng.normal(0, 0.08, 12)[np.arange(240) % 12] + rng.normal(0, 0.1, 240)).clip(0, 1)
        )

    known = np.median([_one(draw(0), np.full(240, 0.4), clusters).detectable for _ in range(40)])
    shown = np.mean([_one(draw(float(known)), np.full(240, 0.4), clusters).shown for _ in range(200)])
    assert shown == pytest.approx(0.8, abs=0.1)


def test_a_measure_without_a_range_takes_the_scores_seen_and_says_so() -> None:
    """Tokens have no upper end: below six repositories, the range of the scores stands in and a caveat tells."""
    tokens = np.random.default_rng(0).integers(100, 4000, (2, 50)).astype(float)
    row = _one(tokens[0], tokens[1], ["r"] * 50, margin=50.0)
    assert "no fixed range" in row.caveat
    assert _one(tokens[0], tokens[1], ["r"] * 50, value_range=(0.0, 5000.0)).high > row.high
    with pytest.raises(UsageError, match="outside the measure's range"):
        _one(tokens[0], tokens[1], ["r"] * 50, value_range=(0.0, 1.0))


def test_lower_may_be_better() -> None:
    """The sign is that of the scores; who is better follows the direction."""
    row = _one(np.full(200, 0.2), np.full(200, 0.9), ["r"] * 200, higher_is_better=False)
    assert row.difference == pytest.approx(-0.7)
    assert (row.better, row.turned().better) == ("a", "a")


def test_malformed_matrices_are_refused() -> None:
    """Labels that do not fit, twice the same name and infinite scores are errors of the caller."""
    with pytest.raises(UsageError, match="do not match"):
        compare_pairs(_scores(2, 3), ["r"] * 4, names=["a", "b"])
    with pytest.raises(UsageError, match="not unique"):
        compare_pairs(_scores(2, 3), ["r"] * 3, names=["a", "a"])
    with pytest.raises(UsageError, match="infinite"):
        compare_pairs(np.full((2, 3), np.inf), ["r"] * 3, names=["a", "b"])
    with pytest.raises(UsageError, match="no queries"):
        compare_pairs(np.empty((2, 0)), [], names=["a", "b"])


def test_a_few_repositories_that_decide_are_a_caveat() -> None:
    """Where one of ten repositories differs far more than the rest, the comparison says that 5 % is not kept."""
    clusters = [f"r{k}" for k in range(10) for _ in range(8)]
    noise = np.random.default_rng(0).normal(0, 0.01, (2, 80))
    even = np.array([np.full(80, 0.5), np.full(80, 0.45)]) + noise
    one = even.copy()
    one[0, :8] += 0.4
    warned = [
        [each for each in compare_pairs(scores, clusters, names=["a", "b"])[0].caveats if "false alarm" in each]
        for scores in (even, one)
    ]
    assert [len(each) for each in warned] == [0, 1]
