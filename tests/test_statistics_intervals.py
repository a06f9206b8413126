"""Intervals cover what they promise, and letters say which differences are shown."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.statistics import letter_display, mean_interval


def test_the_method_follows_the_number_of_repositories() -> None:
    """30 repositories are resampled, 6 go by t over repositories, 5 by t over queries with a caveat."""
    values = np.random.default_rng(0).random(120)
    methods = {}
    for count in (1, 5, 6, 29, 30):
        methods[count] = mean_interval(values, [f"r{k % count}" for k in range(120)])
    assert [methods[k].method for k in (1, 5, 6, 29, 30)] == [
        "query-t",
        "query-t",
        "cluster-t",
        "cluster-t",
        "cluster-bootstrap",
    ]
    assert "this repository only" in methods[1].caveat
    assert methods[30].caveat == ""


def test_one_query_per_unit_is_students_interval() -> None:
    """Without clustering the interval is the textbook one."""
    values = np.random.default_rng(1).normal(0, 1, 20)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    for clusters in (["r"] * 20, [f"r{k}" for k in range(20)]):
        interval = mean_interval(values, clusters)
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("repositories", [8, 40])
def test_intervals_cover_the_true_mean_of_clustered_queries(repositories: int) -> None:
    """About 95 % of intervals hold the true mean, with repositories of unequal size that lean either way."""
    rng = np.random.default_rng(repositories)
    runs = 400
    sizes = rng.integers(3, 12, repositories)
    clusters = np.repeat(np.arange(repositories), sizes)
    names = clusters.astype(str).tolist()
    covered = 0
    for run in range(runs):
        values = rng.normal(0, 0.7, repositories)[clusters] + rng.normal(0, 1, len(clusters))
        interval = mean_interval(values, names, seed=run % 2)
        covered += interval.low <= 0 <= interval.high
    assert covered / runs == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / runs))


def test_a_missing_value_is_counted_and_too_few_give_no_interval() -> None:
    """NaN is left out in the open; one value has a mean and no interval; none has neither."""
    partial = mean_interval([0.2, float("nan"), 0.4], ["r", "r", "r"])
    assert (partial.mean, partial.n, partial.undefined) == (pytest.approx(0.3), 2, 1)
    assert "1 of 3 queries have no value" in partial.caveat
    one = mean_interval([0.2], ["r"])
    assert (one.mean, one.method) == (0.2, "none")
    assert np.isnan(one.low)
    none = mean_interval([float("nan")], ["r"])
    assert (none.n, none.undefined) == (0, 1)
    assert np.isnan(none.mean)
    with pytest.raises(ValueError, match="do not pair up"):
        mean_interval([0.1, 0.2], ["r"])


def test_a_repository_that_holds_most_queries_is_named() -> None:
    """When one repository decides the mean, the caveat names it."""
    clusters = ["big"] * 60 + [f"r{k}" for k in range(10)]
    assert "big holds 86 %" in mean_interval(np.arange(70.0), clusters).caveat


@given(st.integers(1, 7), st.data())
def test_letters_are_shared_exactly_when_no_difference_is_shown(count: int, data: st.DataObject) -> None:
    """Two names share a letter if and only if they are not listed as different."""
    names = [f"c{k}" for k in range(count)]
    pairs = list(combinations(names, 2))
    different = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    letters = letter_display(names, different)
    for first, second in pairs:
        shared = bool(set(letters[first]) & set(letters[second]))
        assert shared == ((first, second) not in different)
    assert all(letters.values())
    assert "a" in letters[names[0]]
