"""The recommendation in sentences: what they say of who is recommended, and of how the race went."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from test_recommend_page import _made

from evaluation.recommend.types import CandidateRecord, Cost, Current, Recommendation
from evaluation.recommend.words import sentences
from evaluation.statistics import compare_pairs


def with_finalists(*specs: str, docstrings: int) -> Recommendation:
    """Return a recommendation of the first of these, each a point below the one before it."""
    made = _made(specs[0])
    (first,) = made.finalists
    finalists = tuple(
        replace(first, spec=spec, mean_of_all=first.mean_of_all - place / 100) for place, spec in enumerate(specs)
    )
    return replace(made, finalists=finalists, docstring_queries=docstrings)


@pytest.mark.parametrize("name", ["definitions", "functions", "declarations"])
def test_answers_of_the_recommended_ones_shape_are_a_caution(name: str) -> None:
    """It names the leader of those that cut otherwise; without docstrings, or for others, there is none."""
    specs = (f"{name}:size=4000", "definitions", "cast:size=600", "recursive:size=600")
    (caution,) = [said for said in sentences(with_finalists(*specs, docstrings=7)) if said.startswith("Caution")]
    assert caution == (
        f"Caution: the answer to 7 docstring queries is one definition, which is exactly what {name}:size=4000 cuts; "
        "of the other finalists cast:size=600 leads (48.0)."
    )
    (alone,) = [said for said in sentences(with_finalists(name, docstrings=1)) if said.startswith("Caution")]
    assert alone == f"Caution: the answer to 1 docstring query is one definition, which is exactly what {name} cuts."
    for other in (with_finalists(*specs, docstrings=0), with_finalists(*reversed(specs), docstrings=7)):
        assert not any(said.startswith("Caution") for said in sentences(other))


@pytest.mark.parametrize(
    ("worse", "said"),
    [(0, "0 of the others are shown"), (1, "1 of the others is shown"), (2, "2 of the others are shown")],
)
def test_one_is_worse_and_two_are(worse: int, said: str) -> None:
    """Whoever is shown to be worse is counted."""
    made = _made("cast:size=600")
    lost = tuple(CandidateRecord(f"x{number}", "x", "worse", "worse", 1, 1.0, 1, 1, 1) for number in range(worse))
    assert any(said in each for each in sentences(replace(made, candidates=(*made.candidates, *lost))))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_change_gains_or_loses_with_its_own_bounds(order: tuple[int, int]) -> None:
    """A loss is written as a positive amount, and its bounds are turned with it; low stands before high."""
    rng = np.random.default_rng(1)
    better = np.clip(rng.random(60) * 0.3 + 0.5, 0, 1)
    scores = np.array([better, better - 0.2])[list(order)]
    made = _made("cast:size=600")
    (change,) = compare_pairs(scores, ["r"] * 60, names=["cast:size=600", "old"])
    used = Current("old", made.finalists[0].mean, change, Cost(chunks=5, mean_nws=1.0, tokens=1))
    (said,) = [each for each in sentences(replace(made, current=used)) if each.startswith("Changing")]
    verb = "gains" if order == (0, 1) else "loses"
    found = re.match(rf"Changing from old {verb} ([\d.]+) points \(([−\d.]+) … ([−\d.]+)\) and needs 100 % more", said)
    assert found, said
    gain, low, high = (float(part.replace("−", "-")) for part in found.groups())
    assert gain == pytest.approx(100 * abs(change.difference), abs=0.06)
    assert low <= gain <= high
    assert (low > 0) is change.shown
