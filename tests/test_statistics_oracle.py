"""p, interval, what could be shown and who may be best, against the same statistics written down number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statistics_oracle as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.statistics import BestSet, best_set, compare_pairs, mean_interval
from evaluation.statistics.bounded import bounded_mean
from evaluation.statistics.samples import Samples
from evaluation.statistics.scores import score_span
from evaluation.statistics.student import student_t
from evaluation.statistics.types import TestName, Weight

_TESTS: tuple[TestName, ...] = ("t", "sign-flip")
_SHAPES = ("normal", "skewed", "rare", "shares")


def _world(seed: int, rows: int, sizes: list[int], shape: str) -> tuple[np.ndarray, list[str]]:
    """Scores of repositories of these sizes, whose rows differ by a few points."""
    rng = np.random.default_rng(seed)
    queries = sum(sizes)
    base = rng.uniform(0.2, 0.6, queries)
    effects = rng.normal(0, 0.05, (rows, 1))
    noise = {
        "normal": rng.normal(0, 0.1, (rows, queries)),
        "skewed": rng.exponential(0.12, (rows, queries)),
        "rare": np.where(rng.random((rows, queries)) < 0.1, -0.5, rng.normal(0, 0.01, (rows, queries))),
        "shares": np.where(rng.random((rows, queries)) < base, 1.0, 0.0) - base,
    }[shape]
    return np.clip(base + effects + noise, 0, 1), [f"r{n}" for n, size in enumerate(sizes) for _ in range(size)]


_SIZES = st.one_of(
    st.lists(st.integers(1, 9), min_size=6, max_size=11),
    st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda sizes: sum(sizes) > 1),
)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 4),
    sizes=_SIZES,
    shape=st.sampled_from(_SHAPES),
    weight=st.sampled_from(["repository", "query"]),
    test=st.sampled_from(_TESTS),
    holes=st.booleans(),
)
def test_a_comparison_is_what_its_formulas_say(
    *, seed: int, rows: int, sizes: list[int], shape: str, weight: Weight, test: TestName, holes: bool
) -> None:
    """Difference, corrected interval and p, and the smallest difference that could be shown, of every pair."""
    scores, clusters = _world(seed, rows, sizes, shape)
    if holes:
        # A repository without any value on one side, and a query without one on the other.
        scores[0, [cluster == "r1" for cluster in clusters]] = np.nan
        scores[1, -1] = np.nan
    names = [f"n{k}" for k in range(rows)]
    found = compare_pairs(scores, clusters, names=names, weight=weight, test=test)
    for row in found:
        differences = scores[names.index(row.a)] - scores[names.index(row.b)]
        if (~np.isnan(differences)).sum() < 2 or not np.nan_to_num(differences).any():
            continue
        if test == "sign-flip" and not row.exact:
            continue  # drawn flips have no closed form
        expected = oracle.compared(
            oracle.sides(list(differences), clusters, weight=weight, test=test, width=1.0),
            family=len(found),
            width=1.0,
            units=row.n_units,
        )
        assert row.difference == pytest.approx(expected.difference, abs=1e-9)
        for one, other in ((row.low, expected.low), (row.high, expected.high)):
            assert one == pytest.approx(other if math.isfinite(other) else math.nan, abs=1e-6, nan_ok=True)
        assert row.p == pytest.approx(expected.p, rel=1e-4, abs=1e-12)
        assert row.detectable == pytest.approx(expected.detectable, abs=1e-6, nan_ok=True)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 5),
    sizes=_SIZES,
    shape=st.sampled_from(["normal", "skewed"]),
    weight=st.sampled_from(["repository", "query"]),
    corrections=st.sampled_from([1, 3]),
)
def test_a_set_is_what_comparisons_with_the_best_say(
    *, seed: int, rows: int, sizes: list[int], shape: str, weight: Weight, corrections: int
) -> None:
    """Who leaves, the interval to the best of the others, its p, and what could have been shown."""
    scores, clusters = _world(seed, rows, sizes, shape)
    found = best_set(scores, clusters, names=[f"n{k}" for k in range(rows)], weight=weight, corrections=corrections)
    _same_set(found, oracle.standings(scores, clusters, weight=weight, test="t", corrections=corrections))
    assert found.family == (rows - 1) * corrections


def _same_set(found: BestSet, expected: oracle.Standings) -> None:
    assert found.detectable == pytest.approx(expected.detectable, abs=1e-6, nan_ok=True)
    for one, other in zip(found.standings, expected.places, strict=True):
        assert one.may_be_best == other.may_be_best
        assert one.difference == pytest.approx(other.difference, abs=1e-9)
        assert one.low == pytest.approx(other.low, abs=1e-6)
        assert one.high == pytest.approx(other.high, abs=1e-6)
        assert one.p == pytest.approx(other.p, rel=1e-4)


@pytest.mark.parametrize("test", _TESTS)
@pytest.mark.parametrize("missing", [1, 2])
def test_a_set_over_different_units_is_corrected_for_all_others(test: TestName, missing: int) -> None:
    """Where some pairs have too few repositories, every pair is compared by what it has, and nothing is shared."""
    seen = set()
    for seed in range(6):
        scores, clusters = _world(seed, 4, [2] * (5 + missing), "normal")
        scores[0] = np.clip(scores[0] - 0.35 * (seed % 2), 0, 1)
        for repository in range(missing):
            scores[3, [cluster == f"r{repository}" for cluster in clusters]] = np.nan
        found = best_set(scores, clusters, names=list("abcd"), test=test)
        _same_set(found, oracle.standings(scores, clusters, weight="repository", test=test))
        assert (found.unit, found.n_units) == ("repository", 5 + missing)
        seen |= set(found.excluded)
    assert "a" in seen


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=_SIZES,
    shape=st.sampled_from(_SHAPES),
    weight=st.sampled_from(["repository", "query"]),
    holes=st.booleans(),
)
def test_an_interval_is_what_its_formulas_say(
    *, seed: int, sizes: list[int], shape: str, weight: Weight, holes: bool
) -> None:
    """Both ends of the interval of a mean, whose scores lie between 0 and 1."""
    scores, clusters = _world(seed, 1, sizes, shape)
    if holes and len(clusters) > 2:
        scores[0, 1] = np.nan
    found = mean_interval(scores[0], clusters, weight=weight)
    expected = oracle.mean_sides(list(scores[0]), clusters, weight=weight, ends=(0.0, 1.0))
    assert found.mean == pytest.approx(expected.estimate, abs=1e-9)
    assert found.low == pytest.approx(max(expected.lower(0.025), 0.0), abs=1e-6)
    assert found.high == pytest.approx(min(expected.upper(0.025), 1.0), abs=1e-6)
    assert (found.n, found.undefined) == (len(clusters) - np.isnan(scores).sum(), np.isnan(scores).sum())


@pytest.mark.parametrize("sizes", [[2] * 7, [2] * 6 + [1], [1] * 7, [3] * 6])
@pytest.mark.parametrize("shape", ["rare", "normal"])
def test_queries_guard_repositories_from_two_for_each_on(sizes: list[int], shape: str) -> None:
    """With exactly two they do, with one less in all they do not."""
    for seed in range(6):
        scores, clusters = _world(seed, 2, sizes, shape)
        (row,) = compare_pairs(scores, clusters, names=["a", "b"])
        expected = oracle.sides(list(scores[0] - scores[1]), clusters, weight="repository", test="t", width=1.0)
        assert (row.low, row.high) == pytest.approx((expected.lower(0.025), expected.upper(0.025)), abs=1e-6)


def test_skewed_repositories_widen_one_side() -> None:
    """Both tails and both bounds, for values that lean to either side, few enough for the correction to matter."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(150):
        count = int(rng.integers(6, 15))
        values = rng.normal(0.3) * 0.3 + rng.choice([-1, 1]) * rng.exponential(0.3, count) ** 1.5
        weights = rng.integers(1, 4, count) / 1.0
        weights /= weights.sum()
        found = student_t(Samples(values[None, :], weights[None, :], "repository", "query"))
        expected = oracle.student(list(zip(weights.tolist(), values.tolist(), strict=True)))
        assert found.p_above()[0] == pytest.approx(expected.p_above, rel=1e-8)
        assert found.p_below()[0] == pytest.approx(expected.p_below, rel=1e-8)
        for level in (0.05, 0.004):
            assert found.lower(level)[0] == pytest.approx(expected.lower(level), abs=1e-8)
            assert found.upper(level)[0] == pytest.approx(expected.upper(level), abs=1e-8)
        seen.add(np.sign(found.skews[0]))
    assert seen == {-1, 0, 1}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=7, unique=True), st.floats(0.2, 1))
def test_the_chance_of_bounded_values_is_near_the_exact_one(values: list[float], heaviest: float) -> None:
    """A weighted sum of exponentials is at most 0 with a chance that has a closed form."""
    weights = np.linspace(heaviest, 1, len(values))
    weights /= weights.sum()
    samples = Samples(np.array([values]), weights[None, :], "query", "query")
    parts = [*(weights * values), -weights.max()]
    gaps = [abs(a - b) for k, a in enumerate(parts) for b in parts[:k]]
    if min(gaps) < 1e-2 or max(parts) <= 1e-3:
        return  # the closed form divides by the gaps
    exact = sum(math.prod(a / (a - b) for m, b in enumerate(parts) if m != k) for k, a in enumerate(parts) if a < 0)
    found = bounded_mean(samples, least=-1.0, most=1.0).p_above()[0]
    assert found == pytest.approx(exact, rel=0.05, abs=1e-6)


def test_sign_flips_name_the_smallest_p_where_it_is_large() -> None:
    """With few repositories, and only where flips decide."""

    def said(repositories: int, test: TestName) -> bool:
        scores, clusters = _world(1, 2, [3] * repositories, "normal")
        (row,) = compare_pairs(scores, clusters, names=["a", "b"], test=test)
        return any("cannot give a p below" in caveat for caveat in row.caveats)

    assert said(6, "sign-flip")
    assert said(7, "sign-flip")
    assert not said(8, "sign-flip")
    assert not said(6, "t")


@pytest.mark.parametrize("count", [6, 12, 40])
def test_skewed_repositories_are_a_caveat_from_twice_the_chance_of_normal_ones(count: int) -> None:
    """The standard deviation of the skewness of normal values is √(6(n-2) / ((n+1)(n+3)))."""
    from scipy import optimize, stats

    limit = max(0.2 * math.sqrt(count), 2 * math.sqrt(6 * (count - 2) / ((count + 1) * (count + 3))))
    normal = stats.norm.ppf((np.arange(count) + 0.5) / count)

    def values(bend: float) -> np.ndarray:
        return np.asarray(0.02 * (normal + bend * normal**2))

    bend = optimize.brentq(lambda bend: stats.skew(values(bend)) - limit, 0, 1)
    clusters = [f"r{k}" for k in range(count)]
    for factor, warned in ((0.98, False), (1.02, True)):
        found = compare_pairs(np.array([0.5 + values(factor * bend), np.full(count, 0.5)]), clusters, names=["a", "b"])
        assert any("a few repositories differ far more" in caveat for caveat in found[0].caveats) is warned


@pytest.mark.parametrize("ends", [(0.0, math.inf), (-math.inf, 5.0), (-math.inf, math.inf)])
def test_a_measure_with_one_open_end_has_no_known_range(ends: tuple[float, float]) -> None:
    """What the data show stands in for the range."""
    span = score_span(np.array([[1.0, 2.0, 4.0]]), ends)
    assert (span.least, span.most, span.known) == (1.0, 4.0, False)
