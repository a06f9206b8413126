"""Comparisons of chunkers agree with scipy, hold their level, and never hide a missing value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chunkers.errors import UsageError
from evaluation.statistics import compare_pairs, score_matrix
from evaluation.statistics.classic import holm
from evaluation.statistics.flips import sign_flip_test


def _scores(chunkers: int, queries: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((chunkers, queries))


def test_enumerated_p_equals_scipys_exact_permutation_test() -> None:
    """With few queries every flip is tried, and the p is scipy's exact one."""
    scores = _scores(2, 9, seed=3)
    ours = compare_pairs(scores, ["r"] * 9, names=["a", "b"])[0]
    theirs = stats.permutation_test(
        (scores[0], scores[1]), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert ours.exact
    assert ours.flips == 2**8
    assert ours.p == pytest.approx(theirs.pvalue)


def test_sampled_p_agrees_with_scipys_within_sampling_error() -> None:
    """With many queries flips are sampled, and the p differs from scipy's by sampling alone."""
    rng = np.random.default_rng(5)
    first = rng.normal(0.12, 1, 200)
    ours = compare_pairs(np.array([first, np.zeros(200)]), ["r"] * 200, names=["a", "b"], flips=50_000)[0]
    theirs = stats.permutation_test(
        (first, np.zeros(200)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=5_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    assert ours.p == pytest.approx(theirs.pvalue, abs=4 * np.sqrt(0.25 / 5_000))
    assert ours.p == pytest.approx(stats.ttest_rel(first, np.zeros(200)).pvalue, abs=0.02)


def test_paired_t_and_wilcoxon_are_scipys() -> None:
    """The two textbook tests give scipy's p-values, Holm-corrected, with a caveat about repositories."""
    scores = _scores(3, 40)
    for name, oracle in (("paired-t", stats.ttest_rel), ("wilcoxon", stats.wilcoxon)):
        rows = compare_pairs(scores, ["r", "s"] * 20, names=list("abc"), test=name)  # type: ignore[arg-type]  # a loop over names
        expected = [oracle(scores[i], scores[j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))]
        assert [row.p for row in rows] == pytest.approx(expected)
        assert [row.p_holm for row in rows] == pytest.approx(stats_holm(expected))
        assert all(row.p_maxt is None and "independent" in row.caveat for row in rows)


def stats_holm(p: list[float]) -> list[float]:
    """Holm by its definition: the largest of (m - rank) p over all p-values that are no larger."""
    ranked = sorted(p)
    scaled = [min(1.0, (len(p) - k) * value) for k, value in enumerate(ranked)]
    return [max(scaled[: ranked.index(value) + 1]) for value in p]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_its_definition(p: list[float]) -> None:
    """The vectorised correction equals the one written from the definition."""
    expected = [max(stats_holm(p)[k] for k, other in enumerate(p) if other == value) for value in p]
    assert holm(np.array(p)).tolist() == pytest.approx(expected)


def test_randomised_tukey_agrees_with_max_t_when_nothing_but_the_pair_exists() -> None:
    """For two chunkers a renaming is a flip, so both tests give the same p."""
    scores = _scores(2, 60, seed=8)
    flip = compare_pairs(scores, ["r"] * 60, names=["a", "b"], flips=20_000)[0]
    tukey = compare_pairs(scores, ["r"] * 60, names=["a", "b"], flips=20_000, test="tukey-hsd")[0]
    assert tukey.p == pytest.approx(flip.p, abs=0.02)


def test_repositories_are_flipped_whole_from_six_on() -> None:
    """Six repositories give 32 flips and no p below 2^-5; five fall back to queries and say so."""
    scores = np.array([np.ones(60), np.zeros(60)])
    six = compare_pairs(scores, [f"r{k % 6}" for k in range(60)], names=["a", "b"])[0]
    five = compare_pairs(scores, [f"r{k % 5}" for k in range(60)], names=["a", "b"])[0]
    assert (six.unit, six.exact, six.p) == ("repository", True, 2.0**-5)
    assert "cannot give a p below 0.031" in six.caveat
    assert five.unit == "query"
    assert "these 5 repositories only" in five.caveat


def test_max_t_lies_between_the_single_p_and_holm_for_the_strongest_pair() -> None:
    """max-T uses how comparisons move together, so for the smallest p it corrects less than Holm."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 1, (6, 150))
    scores[0] += 0.35
    rows = compare_pairs(scores, ["r"] * 150, names=list("abcdef"), flips=20_000)
    best = min(rows, key=lambda row: row.p)
    assert best.p_maxt is not None
    assert best.p <= best.p_maxt <= best.p_holm + 0.01
    assert all(row.p_maxt is not None and row.p <= row.p_maxt for row in rows)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 9))
def test_a_comparison_turns_with_its_sides(seed: int, chunkers: int, queries: int) -> None:
    """Swapping two chunkers negates the difference and the interval and keeps p, wins and losses in step."""
    scores = _scores(chunkers, queries, seed=seed).round(1)
    names = [f"c{k}" for k in range(chunkers)]
    clusters = [f"r{k % 3}" for k in range(queries)]
    there = compare_pairs(scores, clusters, names=names)
    back = {(row.b, row.a): row for row in compare_pairs(scores[::-1], clusters, names=names[::-1])}
    for row in there:
        other = back[row.a, row.b]
        assert row.difference == pytest.approx(-other.difference)
        assert (row.low, row.high) == pytest.approx((-other.high, -other.low))
        assert (row.wins, row.ties, row.losses) == (other.losses, other.ties, other.wins)
        assert row.p == pytest.approx(other.p)
        assert row.p_maxt == pytest.approx(other.p_maxt)


def test_equal_chunkers_have_p_one_and_no_effect() -> None:
    """A pair that never differs is a tie everywhere, with p = 1, no effect size and no advice to collect more."""
    scores = np.vstack([_scores(1, 300), _scores(1, 300)])
    for test in ("sign-flip", "paired-t", "wilcoxon", "tukey-hsd"):
        row = compare_pairs(scores, ["r"] * 300, names=["a", "b"], flips=1_000, test=test)[0]  # type: ignore[arg-type]  # a loop over names
        assert (row.p, row.p_corrected, row.effect, row.ties, row.needed) == (1.0, 1.0, None, 300, None)


def test_a_missing_value_leaves_its_pair_and_is_counted() -> None:
    """A NaN drops the query from the pairs it belongs to only, and the caveat has the count."""
    scores = _scores(3, 50)
    scores[0, :4] = np.nan
    rows = {(row.a, row.b): row for row in compare_pairs(scores, ["r"] * 50, names=list("abc"), flips=2_000)}
    assert rows["a", "b"].n_queries == 46
    assert "4 of 50 queries have no value" in rows["a", "b"].caveat
    assert rows["b", "c"].n_queries == 50
    assert rows["a", "b"].difference == pytest.approx((scores[0] - scores[1])[4:].mean())
    alone = compare_pairs(scores[:2, 4:], ["r"] * 46, names=["a", "b"], flips=2_000)[0]
    assert rows["a", "b"].p == pytest.approx(alone.p, abs=0.05)
    tukey = compare_pairs(scores, ["r"] * 50, names=list("abc"), flips=200, test="tukey-hsd")
    assert {row.n_queries for row in tukey} == {46}


def test_a_baseline_makes_a_smaller_family() -> None:
    """Against a baseline there is one comparison per other chunker, and a typo is named."""
    scores = _scores(4, 30)
    rows = compare_pairs(scores, ["r"] * 30, names=["w", "x", "y", "z"], family="y", flips=500)
    assert [(row.a, row.b, row.family) for row in rows] == [("w", "y", 3), ("x", "y", 3), ("z", "y", 3)]
    with pytest.raises(UsageError, match="baseline 'q'"):
        compare_pairs(scores, ["r"] * 30, names=["w", "x", "y", "z"], family="q")


def test_the_power_hint_is_about_right() -> None:
    """The number of queries that is named gives about 80 % power when the observed effect is the true one."""
    rng = np.random.default_rng(2)
    pilot = rng.normal(0, 1, 40)
    pilot += 0.25 - pilot.mean()
    pilot /= pilot.std(ddof=1)
    needed = compare_pairs(np.array([pilot, np.zeros(40)]), ["r"] * 40, names=["a", "b"], flips=2_000)[0].needed
    assert needed is not None
    effect = pilot.mean()
    found = sum(stats.ttest_1samp(rng.normal(effect, 1, needed), 0).pvalue <= 0.05 for _ in range(1_000))
    assert found / 1_000 == pytest.approx(0.8, abs=0.05)


def test_the_default_test_holds_its_level_on_clustered_queries() -> None:
    """With no true effect and repositories that lean either way, about 5 % are false alarms; by query far more."""
    rng = np.random.default_rng(11)
    runs, repositories, size = 600, 12, 12
    clusters = np.repeat(np.arange(repositories), size)
    alarms = naive = 0
    for _ in range(runs):
        values = rng.normal(0, 0.5, repositories)[clusters] + rng.normal(0, 1, repositories * size)
        pair = np.array([values, np.zeros_like(values)])
        alarms += compare_pairs(pair, clusters.astype(str).tolist(), names=["a", "b"])[0].p <= 0.05
        naive += stats.ttest_1samp(values, 0).pvalue <= 0.05
    error = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert alarms / runs == pytest.approx(0.05, abs=error)
    assert naive / runs > 0.1


def test_the_seed_decides_the_sampled_p() -> None:
    """The same seed gives the same p, another seed nearly the same."""
    columns = _scores(2, 100, seed=4)
    first = sign_flip_test(columns, [(0, 1)], flips=5_000, seed=1).p[0]
    assert first == sign_flip_test(columns, [(0, 1)], flips=5_000, seed=1).p[0]
    assert first == pytest.approx(sign_flip_test(columns, [(0, 1)], flips=5_000, seed=2).p[0], abs=0.04)


def test_different_query_sets_are_refused() -> None:
    """Two chunkers that were not scored on the same queries are not compared."""
    with pytest.raises(UsageError, match="not scored on the same queries: 'q2'"):
        score_matrix({"a": {"q1": 1.0}, "b": {"q1": 1.0, "q2": 0.0}}, {"q1": "r", "q2": "r"})
    with pytest.raises(UsageError, match="no repository"):
        score_matrix({"a": {"q1": 1.0}}, {})
    matrix = score_matrix({"a": {"q2": 1.0, "q1": 0.5}, "b": {"q1": 0.1, "q2": 0.0}}, {"q1": "r", "q2": "s"})
    assert matrix.values.tolist() == [[0.5, 1.0], [0.1, 0.0]]
    assert matrix.clusters == ["r", "s"]


@pytest.mark.parametrize("chunkers", [2, 4])
def test_the_units_needed_can_reach_significance(chunkers: int) -> None:
    """Of n sign flips none gives a p below 2^(1-n), however large the difference."""
    scores = np.add.outer(np.arange(chunkers), [0.1, 0.2, 0.15])
    noisy = scores + np.random.default_rng(0).normal(0, 0.05, scores.shape)
    rows = compare_pairs(noisy, ["r"] * 3, names=list("abcd"[:chunkers]), flips=2_000)
    assert all(row.needed is not None and 2.0 ** (1 - row.needed) <= 0.05 / row.family for row in rows)
