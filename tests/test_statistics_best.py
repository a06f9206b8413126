"""The set that may be the best holds the best, loses those that are shown to be worse, and agrees with itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.statistics import SIGNIFICANT, TestName, best_set, compare_pairs


def _world(
    effects: list[float], *, repositories: int = 10, size: int = 12, seed: int = 0
) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    index = np.repeat(np.arange(repositories), size)
    shared = rng.normal(0.5, 0.1, len(index))
    leaning = rng.normal(0, 0.03, (len(effects), repositories))[:, index]
    scores = shared + np.array(effects)[:, None] + leaning + rng.normal(0, 0.08, (len(effects), len(index)))
    return scores.clip(0, 1), [f"r{k}" for k in index]


def test_the_worse_leave_and_the_best_stays() -> None:
    """Of five, two that are clearly worse are excluded, with an interval below 0 and a small p."""
    scores, clusters = _world([0.0, -0.01, 0.0, -0.2, -0.25])
    found = best_set(scores, clusters, names=list("abcde"))
    assert {"d", "e"} == set(found.excluded)
    assert set(found.may_be_best) == {"a", "b", "c"}
    assert found.standing("d").high < 0
    assert found.standing("d").p <= SIGNIFICANT
    assert found.standing("d").rival == found.may_be_best[0]
    assert (found.unit, found.n_units, found.family) == ("repository", 10, 4)
    assert 0 < found.detectable < 0.2


def test_the_only_best_one_has_an_interval_from_zero_on() -> None:
    """Where all others are excluded, the one that is left is at least as good as each of them."""
    scores, clusters = _world([0.0, -0.2, -0.25])
    found = best_set(scores, clusters, names=list("abc"))
    assert found.may_be_best == ("a",)
    assert (found.standing("a").low, found.standing("a").p) == (0.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 6),
    queries=st.integers(1, 40),
    repositories=st.integers(1, 10),
    test=st.sampled_from(["t", "sign-flip"]),
    holes=st.booleans(),
)
def test_a_set_agrees_with_itself(
    *, seed: int, rows: int, queries: int, repositories: int, test: TestName, holes: bool
) -> None:
    """The leader is in the set; p, interval and membership agree; the order of rows does not matter."""
    rng = np.random.default_rng(seed)
    scores = (rng.random((rows, queries)) * rng.random((rows, 1))).round(2)
    if holes:
        scores[rng.random(scores.shape) < 0.2] = np.nan
    clusters = [f"r{k}" for k in rng.integers(0, repositories, queries)]
    names = [f"c{k}" for k in range(rows)]
    found = best_set(scores, clusters, names=names, test=test, flips=999)
    assert found.may_be_best or np.isnan(scores).all()
    for each in found.standings:
        if np.isnan(each.mean):
            assert not each.may_be_best
        elif len(found.standings) > 1 and each.rival is not None:
            assert each.may_be_best == (each.p > SIGNIFICANT) == (each.high >= 0)
            assert each.low <= each.high
    back = best_set(scores[::-1], clusters, names=names[::-1], test=test, flips=999)
    assert set(back.may_be_best) == set(found.may_be_best)
    json.dumps(found.row(), allow_nan=False)


def test_lower_may_be_better() -> None:
    """Negated scores give the same set, and intervals in the measure's own unit."""
    scores, clusters = _world([0.0, -0.2, -0.25])
    higher = best_set(scores, clusters, names=list("abc"))
    lower = best_set(1 - scores, clusters, names=list("abc"), higher_is_better=False)
    assert lower.may_be_best == higher.may_be_best
    assert lower.standing("b").low == pytest.approx(-higher.standing("b").high)
    assert lower.standing("b").difference == pytest.approx(-higher.standing("b").difference)


def test_one_row_a_row_without_values_and_twins() -> None:
    """One row is the best of one, a row without values is left out and named, twins stay together."""
    scores, clusters = _world([0.0, -0.2])
    assert best_set(scores[:1], clusters, names=["a"]).may_be_best == ("a",)
    gone = best_set(np.vstack([scores, np.full(scores.shape[1], np.nan)]), clusters, names=list("abc"))
    assert gone.may_be_best == ("a",)
    assert "c has no value" in gone.caveats[0]
    twins = best_set(np.vstack([scores[0], scores[0]]), clusters, names=["a", "b"])
    assert set(twins.may_be_best) == {"a", "b"}


def test_the_best_one_is_seldom_excluded_whatever_the_number_of_rows() -> None:
    """With eight equal rows, any one of them is excluded in at most 5 % of cases."""
    excluded = 0
    for seed in range(150):
        scores, clusters = _world([0.0] * 8, repositories=8, seed=seed)
        excluded += "c0" in best_set(scores, clusters, names=[f"c{k}" for k in range(8)]).excluded
    assert excluded / 150 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_rows_far_behind_cost_the_others_nothing() -> None:
    """Fifteen hopeless rows do not bring a row back into the set that two rivals had put out of it."""
    few, clusters = _world([0.0, 0.0, -0.06], repositories=12, seed=3)
    many = np.vstack([few, few[0] - 0.4 + 0.01 * np.random.default_rng(4).normal(size=(15, few.shape[1]))]).clip(0, 1)
    assert best_set(few, clusters, names=list("abc")).excluded == ("c",)
    found = best_set(many, clusters, names=[*"abc", *(f"far{k}" for k in range(15))])
    assert set(found.may_be_best) == {"a", "b"}


def test_who_leaves_by_the_one_sided_test_alone_is_known() -> None:
    """Of two, the worse one leaves with p at most 0.05 on one side; the comparison of the pair looks at both."""
    seen = set()
    for seed in range(40):
        scores, clusters = _world([0.0, -0.03], repositories=8, seed=seed)
        for higher in (True, False):
            found = best_set(scores if higher else -scores, clusters, names=list("ab"), higher_is_better=higher)
            (pair,) = compare_pairs(scores if higher else -scores, clusters, names=list("ab"), higher_is_better=higher)
            for name in "ab":
                excluded = name in found.excluded
                assert found.standing(name).one_sided == (excluded and not pair.shown)
                seen.add((excluded, pair.shown))
    assert seen == {(True, True), (True, False), (False, True), (False, False)}
