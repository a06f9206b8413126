"""What scores say of true means: bounds and losses of draws, means that passages move, and texts that are indexed."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from evaluation.recommend.beliefs import Estimates
from evaluation.recommend.bounds import Scale, Scored, means, variances
from evaluation.recommend.estimating import Believed, Contest, Entrant, Queries, Rules
from evaluation.recommend.indexed import IndexedTexts
from evaluation.recommend.shapes import Shape
from evaluation.recommend.shifts import expected_shifts

NAMES = ("a", "b", "c")


def _believed(width: float = 1.0) -> Believed:
    """Return a belief in which b is ahead of a, and c far behind and little known."""
    rng = np.random.default_rng(0)
    draws = np.array([0.50, 0.52, 0.30])[:, None] + rng.normal(0, [[0.01], [0.01], [0.03]], (3, 2000))
    return Believed(NAMES, Estimates(np.array([0.51, 0.52, 0.29]), np.diag([1e-4, 4e-4, 9e-4])), draws, width)


@pytest.mark.parametrize("rivals", [1, 2, 3])
def test_a_loss_is_what_19_of_20_draws_do_not_exceed(rivals: int) -> None:
    """Against the first so many, draw by draw; whoever is always ahead loses nothing."""
    believed = _believed()
    best = [max(column[:rivals]) for column in believed.draws.T.tolist()]
    for row, found in enumerate(believed.losses(rivals)):
        short = sorted(top - mine for top, mine in zip(best, believed.draws[row].tolist(), strict=True))
        assert found == pytest.approx(max(short[1899], 0.0), abs=0.002)
        assert sum(each > found for each in short) <= 100
    assert believed.losses(1)[0] == 0.0


def test_an_advantage_is_the_rivals_own_bound_over_what_is_believed() -> None:
    """Its estimate and 1.96 errors of it and of the other's lead, less what is believed of the other; never below 0."""
    believed = _believed()
    found, factor = believed.advantages(), NormalDist().inv_cdf(0.975)
    for row in range(3):
        for column in range(3):
            lead = believed.draws[column] - believed.draws.mean(axis=0)
            error = np.sqrt(believed.found.errors[row, row] + lead.std() ** 2)
            bound = believed.found.values[row] + factor * error - believed.draws[column].mean()
            assert found[row, column] == pytest.approx(0.0 if row == column else max(bound, 0.0))
    assert found[2, 1] == 0 < found[1, 2]
    assert (_believed(width=0.1).advantages() <= 0.1).all()


def test_the_risk_covers_draws_and_bounds() -> None:
    """It is the larger one, of everyone or of the first few, and no one candidate may be better by more."""
    believed = _believed()
    losses, advantages = believed.losses(3), believed.advantages()
    assert believed.risks(3) == pytest.approx(np.maximum(losses, advantages.max(axis=0)))
    assert believed.risks(1) == pytest.approx(np.maximum(believed.losses(1), advantages[0]))
    assert (_believed(width=0.1).risks(3) <= 0.1).all()
    for name, risk in zip(NAMES, believed.risks(3), strict=True):
        row = NAMES.index(name)
        drawn = np.quantile(believed.draws - believed.draws[row], 0.95, axis=1)
        assert believed.better_by(name) == pytest.approx(np.maximum(advantages[:, row], drawn.clip(0)))
        assert believed.better_by(name).max() <= risk
        assert believed.better_by(name)[row] == 0
    assert (_believed(width=0.1).better_by("c") <= 0.1).all()


def _contest(choosing: np.ndarray, asked: np.ndarray, *, scouts: tuple[str, ...], lower: bool = False) -> Contest:
    none = np.zeros(0, dtype=np.int64)
    sizes = {"a": 600.0, "b": 600.0, "c": 1200.0}
    entrants = {name: Entrant(name, [none, none], (1.0,), f"family {name}", sizes[name], 600.0) for name in NAMES}
    rules = Rules(margin=0.02, scale=Scale(higher_is_better=not lower))
    return Contest(entrants, rules, Queries(choosing, asked), scouts)


@pytest.mark.parametrize("lower", [False, True])
def test_who_left_is_judged_by_the_round_and_by_what_all_text_changes(lower: bool) -> None:  # noqa: FBT001
    """The mean among passages, what all text is expected to change, and how much easier the other queries are."""
    rng = np.random.default_rng(1)
    asked = np.arange(60) < 30
    final = Scored(["a", "b"], rng.random((2, 60)) * 0.2 + [[0.5], [0.4]] + np.where(asked, 0.0, 0.1), ["r"] * 60)
    among = Scored(list(NAMES), np.concatenate([final.values[:, :30], rng.random((1, 30)) * 0.2 + 0.3]), ["r"] * 30)
    among.values[1] -= 0.05
    sign = -1.0 if lower else 1.0
    here = _contest(asked, asked, scouts=("a",), lower=lower)
    found = here.believed(among, final, np.ones(60, dtype=bool), draws=10)
    assert list(found.names) == ["a", "b", "c"]
    assert found.found.values[:2] == pytest.approx(sign * final.values.mean(axis=1))
    changes = sign * (final.values[1:2, :30] - among.values[1:2])
    shapes = [Shape("family a", 600.0, 600.0), Shape("family b", 600.0, 600.0), Shape("family c", 1200.0, 600.0)]
    noise = np.square(1 / 60)  # alone, it has no distance from others: half of the range over the queries is left
    shift = expected_shifts(changes.mean(axis=1), np.full(1, noise), shapes, rows=[1], width=1.0)
    easier = sign * (final.values.mean(axis=1) - final.values[:, :30].mean(axis=1)).mean()
    expected = sign * among.values[2].mean() + shift.means[2] + easier
    assert found.found.values[2] == pytest.approx(expected)
    spread = variances(among, Scale())[2] + np.square(1 / 60)
    assert found.found.errors[2, 2] == pytest.approx(spread + shift.errors[2, 2], rel=1e-6)
    assert found.found.errors[:2, 2].tolist() == [0.0, 0.0]
    moved = here.shifts(here.higher(among), here.higher(final.on(asked)), 1.0)
    assert (moved.means[0], moved.errors[0].tolist(), moved.errors[:, 0].tolist()) == (0.0, [0.0] * 3, [0.0] * 3)
    assert moved.means[1:] == pytest.approx(shift.means[1:])


def test_one_without_a_value_says_nothing() -> None:
    """It is believed to be as good as the others, give or take the whole range."""
    nobody = np.zeros(4, dtype=bool)
    values = np.array([[0.2, 0.4, 0.3, 0.1], [0.6, 0.8, 0.7, 0.9], [np.nan] * 4])
    found = _contest(nobody, nobody, scouts=()).believed(
        None, Scored(list(NAMES), values, ["r"] * 4), ~nobody, draws=10
    )
    assert found.found.values == pytest.approx([0.25, 0.75, 0.5])
    assert np.diagonal(found.found.errors)[2] == pytest.approx(1.0)
    spread = variances(Scored(list(NAMES), values, ["r"] * 4), Scale())[:2]
    assert np.diagonal(found.found.errors)[:2] == pytest.approx(spread + np.square(1 / 8))
    everything = _contest(nobody, nobody, scouts=()).believed(
        None, Scored(list(NAMES), values * np.nan, ["r"] * 4), ~nobody, draws=10
    )
    assert everything.found.values.tolist() == [0.0, 0.0, 0.0]


def test_means_count_repositories_or_queries_once() -> None:
    """By weight; NaN where there is no value."""
    scored = Scored(["a", "b"], np.array([[0.0, 0.0, 0.0, 1.0], [np.nan] * 4]), ["r", "r", "r", "s"])
    assert means(scored, Scale())["a"] == pytest.approx(0.5)
    assert means(scored, Scale(weight="query"))["a"] == pytest.approx(0.25)
    assert np.isnan(means(scored, Scale())["b"])
    assert means(Scored([], np.zeros((0, 4)), ["r"] * 4), Scale()) == {}


def _texts(*numbers: list[int]) -> tuple[Contest, IndexedTexts]:
    """Return candidates with these texts, of which no more than half may be indexed, three at a time."""
    entrants = [Entrant(f"c{k}", [np.array(each, dtype=np.int64)], (1.0,)) for k, each in enumerate(numbers)]
    none = np.zeros(0, dtype=bool)
    rules = Rules(margin=0.02, text_share=0.5, wave=3)
    return Contest({each.name: each for each in entrants}, rules, Queries(none, none), ()), IndexedTexts(entrants)


def test_texts_that_are_shared_count_once() -> None:
    """In the grid, and among those that are indexed."""
    _, texts = _texts([0, 1, 1], [1, 4], [])
    assert (texts.grid, int(texts.indexed.sum())) == (3, 0)
    texts.index([np.array([1, 1]), np.array([4])])
    assert int(texts.indexed.sum()) == 2
    assert IndexedTexts([Entrant("none", [np.zeros(0, dtype=np.int64)], (1.0,))]).grid == 0


def test_who_can_be_afforded() -> None:
    """In order, as far as half of the texts; smaller ones take the place of a large one; some in any case."""
    here, texts = _texts([0, 1, 2, 3], [4, 5], [5, 6], [7], [8, 9])
    names = ["c0", "c1", "c2", "c3", "c4"]
    assert texts.afford(here, names, least=0) == ["c0", "c3"], "5 of 10; c1 and c2 would be too much after c0"
    assert texts.afford(here, names[1:], least=0) == ["c1", "c2", "c3"], "a shared text counts once, three at a time"
    texts.index([np.array([0, 1, 2, 3])])
    assert texts.afford(here, names, least=0) == ["c0", "c3"], "what is indexed costs nothing"
    assert texts.afford(here, ["c1", "c2", "c4"], least=0) == []
    assert texts.afford(here, ["c1", "c2", "c4"], least=1) == ["c1"]
    assert texts.afford(here, ["c1", "c2", "c4"], least=2) == ["c1", "c2"]
