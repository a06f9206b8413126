"""The recommendation in sentences: what they say of who is recommended, and of how the race went."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_recommend_page import _made

from evaluation.recommend.types import CandidateRecord, Recommendation
from evaluation.recommend.words import sentences


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
