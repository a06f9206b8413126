"""What is believed of the candidates' means, who scouts, and what all text changes for everyone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from test_recommend_sampling import Files

from chunkers.types import SourceFile
from evaluation.recommend import beliefs
from evaluation.recommend.beliefs import Estimates, believe
from evaluation.recommend.candidates import Candidate
from evaluation.recommend.estimating import Entrant
from evaluation.recommend.field import Runner
from evaluation.recommend.sampling import Passage
from evaluation.recommend.scouting import answers, around, scouts
from evaluation.recommend.shapes import Parts, Shape, covariance
from evaluation.recommend.shifts import expected_shifts
from evaluation.recommend.texts import IndexTexts
from ground_truth.types import Annotation, Dataset, Query

SHAPES = [Shape(family, size, 1.0) for family in "ab" for size in (300.0, 900.0, 4000.0)]


def _exactly(found: Estimates) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of every true mean, by summing over all models and over who is unlike the others."""
    count = len(found.values)
    logs, means, spreads = [], [], []
    for parts in itertools.product(beliefs._FAMILY, beliefs._SIZE, beliefs._OWN):
        for unlike in range(-1, count):
            prior = covariance(SHAPES, Parts(beliefs._LEVEL, *parts))
            chance = 1 - beliefs._CHANCE_UNLIKE
            if unlike >= 0:
                prior[unlike, unlike] += beliefs._UNLIKE**2
                chance = beliefs._CHANCE_UNLIKE / count
            both = prior + found.errors
            logs.append(np.log(chance) + multivariate_normal(np.zeros(count), both).logpdf(found.values))
            gain = prior @ np.linalg.inv(both)
            means.append(gain @ found.values)
            spreads.append(np.diagonal(prior - gain @ prior))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = weights @ np.array(means)
    return mean, weights @ (np.array(spreads) + np.square(np.array(means))) - np.square(mean)


@pytest.mark.parametrize("noise", [0.003, 0.02, 0.1])
def test_draws_have_the_mean_and_spread_that_the_models_have_together(noise: float) -> None:
    """The draws agree with a sum over all models, in which somebody or nobody is unlike the others."""
    values = np.array([0.05, 0.02, -0.06, 0.09, 0.0, -0.1])
    errors = np.square(noise) * (np.eye(6) + 0.3)
    found = Estimates(values - values.mean(), errors)
    draws = believe(found, SHAPES, width=1.0, draws=40_000)
    mean, variance = _exactly(found)
    assert draws.shape == (6, 40_000)
    assert draws.mean(axis=1) == pytest.approx(mean, abs=5 * np.sqrt(variance.max() / 40_000) + 1e-4)
    assert draws.var(axis=1) == pytest.approx(variance, rel=0.06)


def test_beliefs_are_in_the_unit_of_the_scores() -> None:
    """Ten times the range, scores and errors make ten times the draws; a common level is kept."""
    values, errors = np.array([0.5, 0.55, 0.4, 0.52, 0.5, 0.45]), 0.0004 * np.eye(6)
    draws = believe(Estimates(values, errors), SHAPES, width=1.0, draws=500)
    larger = believe(Estimates(10 * values + 3, 100 * errors), SHAPES, width=10.0, draws=500)
    assert larger == pytest.approx(10 * draws + 3)


def test_what_is_in_common_is_most_at_near_sizes_of_a_family() -> None:
    """A value has more in common with its family at a near size than at a far one, and least with others far away."""
    found = covariance(SHAPES, Parts(level=0.1, family=0.2, size=0.3, own=0.4))
    assert np.diagonal(found) == pytest.approx(0.01 + 0.04 + 0.09 + 0.16)
    near, far = np.exp(-(np.log(3) ** 2) / 2), np.exp(-(np.log(4000 / 300) ** 2) / 2)
    assert found[0, 1] == pytest.approx(0.01 + 0.13 * near)
    assert found[0, 2] == pytest.approx(0.01 + 0.13 * far)
    assert found[0, 3] == pytest.approx(0.01 + 0.09)
    assert found[0, 4] == pytest.approx(0.01 + 0.09 * near)
    assert (found == found.T).all()


def test_sizes_below_one_count_as_one() -> None:
    """A chunk of whitespace alone has no size whose logarithm could be taken."""
    parts = Parts(level=0.0, family=0.0, size=1.0, own=0.0)
    for small in (0.0, 0.5, 1.0):
        found = covariance([Shape("a", small, 1.0), Shape("b", 4.0, 1.0)], parts)
        assert found[0, 1] == pytest.approx(np.exp(-(np.log(4.0) ** 2) / 2))
        shift = expected_shifts(np.zeros(0), np.zeros(0), [Shape("a", small, small)], rows=[], width=1.0)
        assert shift.means == pytest.approx([0.0])
        far = expected_shifts(np.zeros(0), np.zeros(0), [Shape("a", 8.0, small)], rows=[], width=1.0)
        assert far.means == pytest.approx([-0.05 * np.log(8.0)])
    plain = Entrant("a", [np.arange(3)], (1.0,)).shape
    assert expected_shifts(np.zeros(0), np.zeros(0), [plain], rows=[], width=1.0).means == pytest.approx([0.0])


def test_shifts_are_predicted_as_normal_variables_are() -> None:
    """Mean and covariance given what is known, for any width; what is known exactly is what it is."""
    shapes = [Shape("a", 300.0, 600.0), Shape("a", 1200.0, 600.0), Shape("b", 700.0, 500.0), Shape("b", 90.0, 300.0)]
    larger = np.log([shape.size / shape.around for shape in shapes])
    for width in (1.0, 40.0):
        prior = width**2 * (covariance(shapes, Parts(0.02, 0.03, 0.01, 0.014)) + 0.02**2 * np.outer(larger, larger))
        expected = -0.05 * width * larger
        free = expected_shifts(np.zeros(0), np.zeros(0), shapes, rows=[], width=width)
        assert free.means == pytest.approx(expected)
        assert free.errors == pytest.approx(prior)
        known, noise, rows = np.array([0.03, -0.04]) * width, np.array([1e-4, 3e-4]) * width**2, [0, 3]
        found = expected_shifts(known, noise, shapes, rows=rows, width=width)
        gain = prior[:, rows] @ np.linalg.inv(prior[np.ix_(rows, rows)] + np.diag(noise))
        assert found.means == pytest.approx(expected + gain @ (known - expected[rows]))
        assert found.errors == pytest.approx(prior - gain @ prior[rows], abs=1e-12 * width**2)
        exact = expected_shifts(known, np.zeros(2), shapes, rows=rows, width=width)
        assert exact.means[rows] == pytest.approx(known)
        assert np.diagonal(exact.errors)[rows] == pytest.approx([0.0, 0.0], abs=1e-12 * width**2)
        assert (np.diagonal(exact.errors) >= 0).all()


def _runner(family: str, size: float, tokens: int) -> Runner:
    none = np.zeros(0, dtype=np.int64)
    return Runner(Candidate(f"{family}:{size:g}", family), 1, size, tokens, IndexTexts(none, none, none), (1.0,))


def test_scouts_are_of_the_family_that_comes_near_with_few_tokens() -> None:
    """Overlap makes a family expensive, and one without small sizes is far; a middling scout comes first."""
    sizes = (300.0, 500.0, 900.0, 1500.0, 4000.0)
    plain = [_runner("plain", size * 1.1, 1000) for size in sizes]
    overlapping = [_runner("overlapping", size, 2000) for size in sizes]
    large = [_runner("large", size, 900) for size in (1500.0, 4000.0)]
    chosen = scouts([*large, *overlapping, *plain])
    assert [each.candidate.spec for each in chosen] == ["plain:1650", "plain:550", "plain:4400"]
    assert [each.candidate.spec for each in scouts(overlapping)] == [f"overlapping:{k}" for k in (1500, 500, 4000)]
    assert [each.candidate.spec for each in scouts([_runner("one", 700.0, 5)])] == ["one:700"]
    filling = around([*large, *overlapping], chosen)
    assert [filling[f"overlapping:{size:g}"] for size in sizes] == [
        "plain:550",
        "plain:550",
        "plain:550",
        "plain:1650",
        "plain:4400",
    ]


def test_chunks_of_hardly_any_size_have_a_scout_too() -> None:
    """They count as of size one, as scouts do."""
    small, larger = _runner("z", 0.0, 1), _runner("a", 1.5, 1)
    assert around([_runner("none", 0.5, 1)], [small, larger]) == {"none:0.5": "z:0"}
    assert around([_runner("none", 0.5, 1)], [_runner("z", 1.0, 1), _runner("a", 3.0, 1)]) == {"none:0.5": "z:1"}


def test_answers_are_what_somebody_graded_above_zero() -> None:
    """Lines as bytes of their file, query by query."""
    files = Files("r", (SourceFile("f.py", b"one\ntwo\nthree\n", "python", "r"),))
    queries = tuple(Query(name, "?", "r") for name in "abc")
    notes = (
        Annotation("a", "r", "f.py", 2, 3),
        Annotation("b", "r", "f.py", 1, 1, grade=0.5),
        Annotation("c", "r", "f.py", 1, 1, grade=0.0),
    )
    found = answers(Dataset("own", (files,), queries, notes))
    assert found["a"] == [Passage(("r", "f.py"), 4, 14)]
    assert found["b"] == [Passage(("r", "f.py"), 0, 4)]
    assert not found.get("c")
