"""Intervals of means cover what they promise, and letters say which differences are shown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from chunkers.errors import UsageError
from evaluation.statistics import mean_interval
from evaluation.statistics.intervals import weighted_mean


def test_the_method_follows_the_number_of_repositories() -> None:
    """Six repositories go by t over repositories, five by bounds over queries with a caveat."""
    values = np.random.default_rng(0).random(120)
    found = {count: mean_interval(values, [f"r{k % count}" for k in range(120)]) for count in (1, 5, 6, 30)}
    assert [found[count].method.split(" over ")[1] for count in found] == ["queries"] * 2 + ["repositories"] * 2
    assert [found[count].n_units for count in found] == [120, 120, 6, 30]
    assert "this repository only" in found[1].caveat
    assert found[30].caveat == ""


def test_one_query_per_repository_is_students_interval() -> None:
    """Without clustering and without a known range the interval is the textbook one."""
    values = np.random.default_rng(1).normal(0, 1, 20)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    interval = mean_interval(values, [f"r{k}" for k in range(20)])
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_each_repository_or_each_query_counts_once() -> None:
    """The two means differ where repositories do."""
    values, clusters = np.array([1.0, 0.0, 0.0, 0.0]), ["a", "b", "b", "b"]
    assert mean_interval(values, clusters).mean == weighted_mean(values, clusters) == pytest.approx(0.5)
    assert mean_interval(values, clusters, weight="query").mean == pytest.approx(0.25)
    assert weighted_mean(values, clusters, weight="query") == pytest.approx(0.25)


def test_scores_that_are_all_zero_are_not_certain() -> None:
    """A hundred zeros leave room for a share of a few percent, as the rule of three says."""
    interval = mean_interval(np.zeros(100), ["r"] * 100)
    assert interval.low == 0
    assert interval.high == pytest.approx(1 - 0.025 ** (1 / 100), abs=1e-3)


@pytest.mark.parametrize("repositories", [8, 40])
def test_intervals_cover_the_true_mean_of_clustered_queries(repositories: int) -> None:
    """About 95 % of intervals hold the true mean, with repositories of unequal size that lean either way."""
    rng = np.random.default_rng(repositories)
    runs = 400
    sizes = rng.integers(3, 12, repositories)
    clusters = np.repeat(np.arange(repositories), sizes)
    names = clusters.astype(str).tolist()
    covered = 0
    for _ in range(runs):
        values = rng.normal(0, 0.7, repositories)[clusters] + rng.normal(0, 1, len(clusters))
        interval = mean_interval(values, names)
        covered += interval.low <= 0 <= interval.high
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_missing_value_is_counted_and_too_few_give_no_interval() -> None:
    """NaN is left out in the open; one value has a mean and no interval; none has neither."""
    partial = mean_interval([0.2, float("nan"), 0.4], ["r", "r", "r"])
    assert partial.mean == pytest.approx(0.3)
    assert (partial.n, partial.undefined) == (2, 1)
    assert "1 of 3 queries have no value" in partial.caveat
    one = mean_interval([0.2], ["r"])
    assert (one.mean, one.method) == (0.2, "none")
    assert np.isnan(one.low)
    none = mean_interval([float("nan")], ["r"])
    assert (none.n, none.undefined) == (0, 1)
    assert np.isnan(none.mean)
    assert np.isnan(weighted_mean(np.array([np.nan]), ["r"]))
    with pytest.raises(UsageError, match="do not pair up"):
        mean_interval([0.1, 0.2], ["r"])


def test_a_repository_that_holds_most_queries_is_named() -> None:
    """Where each query counts once it decides the mean; where each repository does, it counts as one."""
    clusters = ["big"] * 60 + [f"r{k}" for k in range(10)]
    assert "big holds 86 % of the queries and counts as one" in mean_interval(np.arange(70.0), clusters).caveat
    assert "decides most" in mean_interval(np.arange(70.0), clusters, weight="query").caveat


def test_a_mean_is_never_beyond_its_values() -> None:
    """Rounding takes it neither beyond the largest value nor out of its interval."""
    for count in range(2, 40):
        values, clusters = [1.0] * (3 * count), [str(number % count) for number in range(3 * count)]
        for scaled in (1.0, 0.1, 0.7):
            found = mean_interval([scaled * value for value in values], clusters)
            assert found.low <= found.mean <= found.high
            assert found.mean == scaled == weighted_mean(np.array(values) * scaled, clusters)
