"""Comparisons with one control are corrected as their correlation asks for, and never more than Bonferroni does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from evaluation.statistics.control import family_level, family_p, in_question, shared_correlation

_SHARES = st.floats(1e-6, 0.2)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.5, 0.85])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_family_p_is_that_of_equally_correlated_normal_variables(count: int, correlation: float) -> None:
    """Scipy's multivariate normal distribution gives the same chance that the largest is as large."""
    smallest = 0.01
    cov = correlation + (1 - correlation) * np.eye(count)
    largest = -special.ndtri(smallest)
    expected = 1 - stats.multivariate_normal(cov=cov, seed=0).cdf(np.full(count, largest))
    found = family_p(np.array([smallest]), np.array([count]), np.array([correlation]))
    assert found[0] == pytest.approx(expected, rel=0.005)


@given(level=_SHARES, count=st.integers(1, 60), correlation=st.floats(0, 1))
def test_level_and_p_are_each_others_inverse(level: float, count: int, correlation: float) -> None:
    """The level of a family lies between Bonferroni's and an uncorrected one, and its p is the level asked for."""
    one, other = np.array([float(count)]), np.array([correlation])
    found = family_level(level, one, other)
    assert level / count * (1 - 1e-9) <= found[0] <= level
    assert family_p(found, one, other)[0] == pytest.approx(level, rel=1e-6)


@given(first=_SHARES, second=_SHARES, count=st.integers(1, 30), correlation=st.floats(0, 0.95))
def test_a_smaller_p_stays_smaller(first: float, second: float, count: int, correlation: float) -> None:
    """The correction keeps the order of p, and more others never make a p smaller."""
    both, sizes = np.array([first, second]), np.full(2, float(count))
    found = family_p(both, sizes, np.full(2, correlation))
    assert (first <= second) == (found[0] <= found[1]) or found[0] == found[1]
    assert (family_p(both, sizes + 1, np.full(2, correlation)) >= found - 1e-15).all()


def test_those_far_behind_are_not_in_question() -> None:
    """What is far behind the control does not count; what is in front of it does, and the number has two ends."""
    freedom = np.full(4, 1000.0)
    share = 1 - special.ndtr(-1.5)
    assert in_question(np.array([-9.0, -5.0, 1.0, 3.0]), freedom) == pytest.approx(2 / share, rel=1e-3)
    assert in_question(np.array([1.0, 1.0, 1.0, 1.0]), freedom) == 4
    assert in_question(np.array([-9.0, -9.0, -9.0, -9.0]), freedom) == 1


def test_the_correlation_is_that_of_differences_from_one_control() -> None:
    """Independent rows minus one control correlate by a half; a control that does not vary adds nothing."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 4000))
    parts = rows[1:] - rows[0]
    parts -= parts.mean(axis=1, keepdims=True)
    assert shared_correlation(parts) == pytest.approx(0.5, abs=0.05)
    alone = rows[1:] - rows[1:].mean(axis=1, keepdims=True)
    assert shared_correlation(alone) == pytest.approx(0.0, abs=0.03)
    assert shared_correlation(np.zeros((3, 10))) == 0
    assert shared_correlation(parts[:1]) == 0
