"""The race: who leaves, who is recommended, and that the stated risk and the finalists' means are true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.recommend.bounds import Scale, Scored
from evaluation.recommend.race import Entrant, Oracle, Outcome, Rules, race

SHARES = (0.2, 0.35)


def _oracle(scores: np.ndarray, names: Sequence[str], cuts: Sequence[int]) -> Oracle:
    """Return an oracle whose rounds see the first queries, up to each cut, and whose final sees the rest."""
    slices = [slice(0, cut) for cut in cuts] + [slice(cuts[-1] if cuts else 0, None)]

    def measure(number: int, asked: Sequence[str]) -> Scored:
        found = scores[[list(names).index(name) for name in asked], slices[number]]
        return Scored(list(asked), found, ["r"] * found.shape[1])

    return measure


def _run(scores: np.ndarray, cuts: Sequence[int] = (40, 80), *, margin: float = 0.02) -> Outcome:
    names = [f"c{k}" for k in range(len(scores))]
    entrants = [Entrant(name, 100 + k, (float(k),)) for k, name in enumerate(names)]
    outcome = race(entrants, SHARES[: len(cuts)], _oracle(scores, names, cuts), Rules(margin=margin))
    assert outcome is not None
    return outcome


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 14), queries=st.integers(3, 60), rounding=st.integers(0, 3))
def test_there_is_always_an_answer(seed: int, rows: int, queries: int, rounding: int) -> None:
    """The recommended one is a finalist that may be best; risks are shares; everyone else left in exactly one round."""
    scores = np.random.default_rng(seed).random((rows, queries)).round(rounding)
    cuts = (queries // 4, queries // 2) if queries > 7 else ()
    outcome = _run(scores, cuts)
    assert outcome.recommended in outcome.may_be_best
    assert set(outcome.may_be_best) <= set(outcome.finalists)
    assert all(0 <= outcome.final_risks[name] <= outcome.risks[name] <= 1 for name in outcome.finalists)
    gone = [name for each in outcome.rounds for name in each.left]
    assert sorted([*gone, *outcome.finalists]) == sorted(f"c{k}" for k in range(rows))
    assert str(_run(scores, cuts)) == str(outcome)


def test_equals_end_with_the_cheapest_and_no_risk() -> None:
    """Twelve candidates with the same scores on 300 queries: the cheapest, and nobody is better at all."""
    scores = np.tile(np.random.default_rng(0).random(300), (12, 1))
    outcome = _run(scores, (60, 120))
    assert (outcome.recommended, outcome.risks["c0"]) == ("c0", 0.0)


def test_one_that_is_far_better_is_recommended_whatever_it_costs() -> None:
    """The most expensive of ten leads by twenty points: the others are shown to be worse or fall behind."""
    scores = np.random.default_rng(1).normal(0.4, 0.05, (10, 400)).clip(0, 1)
    scores[9] += 0.2
    outcome = _run(scores)
    assert outcome.recommended == "c9"
    assert outcome.risks["c9"] == 0.0
    assert all(left.shown for each in outcome.rounds for left in each.left.values())


def test_within_the_margin_the_cheaper_one_is_taken() -> None:
    """A gap that is shown to be within the margin is not worth its price; beyond it, it is."""
    rng = np.random.default_rng(2)
    shared = rng.random(2000) * 0.8
    scores = np.array([shared + rng.normal(0, 0.01, 2000), shared + 0.0002 + rng.normal(0, 0.01, 2000)]).clip(0, 1)
    assert _run(scores, (400, 800)).recommended == "c0"
    scores[1] = (shared + 0.1).clip(0, 1)
    assert _run(scores, (400, 800)).recommended == "c1"


def test_lower_may_be_better() -> None:
    """With a measure that counts what is read, the lowest is best and the signs of the gaps follow."""
    scores = np.random.default_rng(3).normal(0.5, 0.05, (6, 300)).clip(0, 1)
    scores[4] -= 0.3
    names = [f"c{k}" for k in range(6)]
    entrants = [Entrant(name, 1, (1.0,)) for name in names]
    rules = Rules(margin=0.02, scale=Scale(higher_is_better=False))
    outcome = race(entrants, SHARES, _oracle(scores.clip(0, 1), names, (60, 120)), rules)
    assert outcome is not None
    assert outcome.recommended == "c4"
    assert all(left.behind > 0 for each in outcome.rounds for left in each.left.values())


def test_those_who_fail_have_no_part_and_all_may_fail() -> None:
    """A candidate without a row is not ranked; without any row there is no outcome."""
    scores = np.random.default_rng(4).random((5, 60))
    names = [f"c{k}" for k in range(5)]
    whole = _oracle(scores, names, (15, 30))
    entrants = [Entrant(name, 1, (1.0,)) for name in names]

    def failing(number: int, asked: Sequence[str]) -> Scored:
        return whole(number, [name for name in asked if name != "c2"])

    outcome = race(entrants, SHARES, failing, Rules(margin=0.02))
    assert outcome is not None
    assert all("c2" not in each.means for each in outcome.rounds)
    nothing = Scored([], np.zeros((0, 5)), ["r"] * 5)
    assert race(entrants, SHARES, lambda _number, _names: nothing, Rules(margin=0.02)) is None


@pytest.mark.parametrize("spread", [0.0, 0.03])
def test_the_risk_holds_and_finalists_are_not_flattered(spread: float) -> None:
    """Over 60 worlds of 16 candidates the loss is within the stated risk, and finalists' means are true on average."""
    rng = np.random.default_rng(5)
    held, bias = [], []
    for _ in range(60):
        truth = 0.5 + rng.normal(0, spread, 16).clip(-0.1, 0.1)
        scores = truth[:, None] + rng.uniform(-0.35, 0.35, (16, 200))
        outcome = _run(scores, (36, 60))
        held.append(truth.max() - truth[int(outcome.recommended[1:])] <= outcome.risks[outcome.recommended])
        final = outcome.rounds[-1].means
        bias.append(np.mean([final[name] - truth[int(name[1:])] for name in outcome.finalists]))
    assert np.mean(held) >= 0.95
    assert abs(np.mean(bias)) < 3 * np.std(bias) / np.sqrt(len(bias))
