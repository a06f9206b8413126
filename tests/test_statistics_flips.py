"""Sign flips of many comparisons at once, in blocks of any size, are those of each by itself."""

from __future__ import annotations

import numpy as np
import pytest
import statistics_oracle as oracle

from evaluation.statistics import flips as module
from evaluation.statistics.flips import SignFlips, sign_flips
from evaluation.statistics.samples import Samples


def samples(rows: int, units: int, *, seed: int = 0, rank: int | None = None, even: bool = False) -> Samples:
    """Return weighted samples; of a low rank all rows are mixtures of a few."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0.1, 1, (rank or rows, units))
    if rank:
        values = rng.normal(size=(rows, rank)) @ values
    weights = np.ones((rows, units)) if even else rng.integers(1, 4, (rows, units)).astype(float)
    return Samples(values, weights / weights.sum(axis=1, keepdims=True), "repository", "query")


def one(several: Samples, row: int) -> Samples:
    """Return one of the samples."""
    return Samples(several.values[[row]], several.weights[[row]], several.unit, several.weight)


def said(found: SignFlips, row: int) -> list[float]:
    """Return everything that is found of one comparison."""
    bounds = [bound(level)[row] for bound in (found.lower, found.upper) for level in (0.05, 0.025, 0.01)]
    return [found.estimates[row], found.errors[row], found.p_above()[row], found.p_below()[row], *bounds]


@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("even", [True, False])
def test_rows_are_flipped_as_if_each_were_alone(*, rank: int | None, even: bool) -> None:
    """Six hundred rows, with weights of their own or the same, of any rank; those checked are the oracle's too."""
    several = samples(600, 8, rank=rank, even=even)
    together = sign_flips(several, flips=1000, seed=0)
    assert (together.exact, together.flips) == (True, 256)
    for row in (0, 5, 511, 512, 599):
        assert said(together, row) == pytest.approx(said(sign_flips(one(several, row), flips=1000, seed=0), 0))
        units = list(zip(several.weights[row].tolist(), several.values[row].tolist(), strict=True))
        expected = oracle.flipped(units)
        assert said(together, row)[:4] == pytest.approx(list(expected[:4]))
        assert together.lower(0.05)[row] == pytest.approx(expected.lower(0.05))
        assert together.upper(0.01)[row] == pytest.approx(expected.upper(0.01))


@pytest.mark.parametrize("cells", [10, 100, 1000])
@pytest.mark.parametrize("limit", [10**6, 700])
def test_the_size_of_a_block_does_not_matter(cells: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every subset, or those drawn with the same seed, in blocks of few: counts and bounds are the same."""
    several = samples(3, 10, seed=2)
    whole = sign_flips(several, flips=limit, seed=5)
    monkeypatch.setattr(module, "_BLOCK_CELLS", cells)
    parts = sign_flips(several, flips=limit, seed=5)
    assert (parts.flips, parts.exact) == (whole.flips, whole.exact) == ((1024, True) if limit > 1024 else (701, False))
    for row in range(3):
        if whole.exact:
            assert said(parts, row) == pytest.approx(said(whole, row))
        else:  # the bits are drawn block by block, so these are other flips
            assert said(parts, row)[2:4] == pytest.approx(said(whole, row)[2:4], abs=0.08)


def test_all_subsets_are_tried_up_to_the_number_of_flips() -> None:
    """Two to the number of units may be just as many; one flip less, and they are drawn, the empty one included."""
    several = samples(2, 9)
    for limit, exact, count in ((512, True, 512), (511, False, 512), (513, True, 512), (100, False, 101)):
        found = sign_flips(several, flips=limit, seed=1)
        assert (found.exact, found.flips) == (exact, count)
        assert found.p_above().min() >= 1 / count


def test_drawn_flips_are_near_all_of_them_and_follow_their_seed() -> None:
    """By 20,000 of them p is within five standard errors of the exact one; another seed draws others."""
    several = samples(4, 16, seed=3)
    exact = sign_flips(several, flips=2**16, seed=0)
    drawn = [sign_flips(several, flips=20_000, seed=seed) for seed in (0, 0, 1)]
    assert exact.exact
    for found in drawn:
        assert not found.exact
        np.testing.assert_allclose(found.p_above(), exact.p_above(), atol=5 * 0.5 / np.sqrt(20_000))
        np.testing.assert_allclose(found.lower(0.05), exact.lower(0.05), atol=0.05)
        np.testing.assert_allclose(found.upper(0.05), exact.upper(0.05), atol=0.05)
    assert (drawn[0].p_above() == drawn[1].p_above()).all()
    assert (drawn[0].lower(0.01) == drawn[1].lower(0.01)).all()
    assert (drawn[0].smallest != drawn[2].smallest).any()


def test_bounds_are_kept_up_to_five_percent() -> None:
    """At that level there is one, above it is an error; below the smallest p there is none."""
    found = sign_flips(samples(2, 7), flips=1000, seed=0)
    assert np.isfinite(found.lower(0.05)).all()
    assert np.isfinite(found.lower(np.array([0.05, 1 / 128]))).all()
    assert np.isneginf(found.lower(1 / 129)).all()
    assert np.isposinf(found.upper(1 / 129)).all()
    for level in (0.0501, np.array([0.01, 0.06])):
        with pytest.raises(ValueError, match="levels up to"):
            found.lower(level)


def test_ties_count_on_both_sides() -> None:
    """Values of ±1 and 0: subsets with a mean of 0, up to rounding, are at most and at least 0."""
    values = np.array([[0.1, -0.1, 0.3, -0.2 - 0.1, 0.0, 0.0]])
    found = sign_flips(Samples(values, np.full((1, 6), 1 / 6), "query", "query"), flips=100, seed=0)
    # Of 16 subsets of the four that differ, the empty one, two pairs and all four have a mean of 0; of the other
    # twelve, half are above it.
    assert (found.p_above()[0], found.p_below()[0]) == (10 / 16, 10 / 16)
    assert found.estimates[0] == pytest.approx(0)
    zeros = sign_flips(Samples(np.zeros((1, 6)), np.full((1, 6), 1 / 6), "query", "query"), flips=100, seed=0)
    assert (zeros.p_above()[0], zeros.p_below()[0], zeros.errors[0]) == (1, 1, 0)
    assert (zeros.lower(0.05)[0], zeros.upper(0.05)[0]) == (0, 0)


@pytest.mark.parametrize("cells", [40, 1000, 4_000_000])
@pytest.mark.parametrize("limit", [700, 703, 2**16])
def test_every_subset_is_counted_once_whatever_the_blocks(
    cells: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of zeros every subset has a mean of 0; of values above 0 none has but the empty one, which is seldom drawn."""
    monkeypatch.setattr(module, "_BLOCK_CELLS", cells)
    even = np.full((1, 16), 1 / 16)
    zeros = sign_flips(Samples(np.zeros((1, 16)), even, "query", "query"), flips=limit, seed=3)
    assert (zeros.p_above()[0], zeros.p_below()[0]) == (1, 1)
    above = sign_flips(Samples(np.linspace(0.5, 1, 16)[None, :], even, "query", "query"), flips=limit, seed=3)
    assert above.at_least_zero[0] == above.flips
    assert 1 <= above.at_most_zero[0] <= 2
