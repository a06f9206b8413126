"""What `check-plugin measure` tells the author of a measure: each declaration, each value, and where the edges are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from chunkers.errors import UsageError
from evaluation.measures.batch import Batch
from evaluation.measures.contract import check_measure
from evaluation.measures.measure import Measure, RankedMeasure
from evaluation.types import Case

DECLARED = "label, pattern, definition, citation, unit, direction, range and needs are declared"
NAMED = "its name is its label with what follows"
RANGE = "every value lies in the declared range"
EMPTY = "a query without results has a value, NaN, or a refusal in one line"
ASKED = "its declared properties can be asked"


def measure(**facts: Any) -> Measure:
    """Return a sound measure that scores 0.5 everywhere, with these facts in place of its own."""

    @dataclass(frozen=True, kw_only=True)
    class Sound(RankedMeasure):
        """Half of everything."""

        label: ClassVar[str] = "sound"
        pattern: ClassVar[str] = "sound@k"
        definition: ClassVar[str] = "a half"
        citation: ClassVar[str] = "a test"
        range: ClassVar[tuple[float, float]] = (0.0, 1.0)

        def score(self, batch: Batch) -> np.ndarray:
            return batch.each(self.one)

        def one(self, case: Case) -> float:  # noqa: ARG002 - the same for all
            return 0.5

    for name, value in facts.items():
        setattr(Sound, name, value)
    return Sound(cutoff=3)


def problems(made: Measure) -> dict[str, str]:
    """Return the broken rules with what is said of each."""
    return {finding.rule: finding.problem for finding in check_measure(made) if finding.problem}


def test_a_sound_measure_breaks_no_rule() -> None:
    """Nothing is said where there is nothing to say."""
    assert problems(measure()) == {}


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        *(({name: value}, f"{name} is not a text") for name in ("pattern", "citation", "version") for value in ("", 3)),
        ({"definition": None}, "definition is not a text"),
        ({"direction": "up"}, "direction is 'up': higher, lower or none"),
        ({"range": (1.0, 0.0)}, "range is (1.0, 0.0): the least value, then the largest"),
        ({"range": (0.5, 0.5)}, "range is (0.5, 0.5)"),
        ({"range": (math.nan, 1.0)}, "range is (nan, 1.0)"),
        ({"unit": "apples"}, "unit is 'apples': one of share, number"),
        ({"comparable": 1}, "comparable is neither True nor False"),
        ({"needs": frozenset({"grades", "luck", "time"})}, "needs luck, time, which no case has"),
    ],
)
def test_each_declaration_is_asked_for(facts: dict[str, Any], told: str) -> None:
    """A text that is missing or empty, and every value that is none of those that there are."""
    assert told in problems(measure(**facts))[DECLARED]


def test_a_name_is_the_label_in_small_letters() -> None:
    """With whatever follows after @ or in brackets; two equal measures have one name."""
    assert "does not begin with the label" in problems(measure(name="other@3"))[NAMED]
    assert "not in lower case" in problems(measure(label="Sound"))[NAMED]
    assert NAMED not in problems(measure(name="sound@3(x=1)"))
    assert NAMED not in problems(measure(name="sound(x=1)"))
    counter = iter(range(1000))
    assert "an equal measure" in problems(measure(name=property(lambda _: f"sound@{next(counter)}")))[NAMED]


@pytest.mark.parametrize(
    ("value", "inside"),
    [(0.0, True), (1.0, True), (math.nan, True), (-1e-12, True), (1 + 1e-12, True), (-1e-6, False), (1 + 1e-6, False)],
)
@pytest.mark.parametrize(("length", "rule"), [(5, RANGE), (1, RANGE), (0, EMPTY)])
def test_the_edges_belong_to_the_range(*, value: float, inside: bool, length: int, rule: str) -> None:
    """For rankings of five, one and no results: rounding is forgiven, a millionth is not; undefined is allowed."""

    def one(_: Measure, case: Case) -> float:
        return value if len(case.ranking) == length else 0.5

    found = problems(measure(one=one))
    assert (rule not in found) is inside
    if not inside:
        assert f"scores {value:g}" in found[rule]


def test_a_measure_that_refuses_everything_has_no_values() -> None:
    """A refusal of some cases is its right, of all of them it is not."""

    def none(_: Measure, case: Case) -> float:
        raise UsageError(f"not {case.query_id}")

    def few(_: Measure, case: Case) -> float:
        if len(case.ranking) < 5:
            raise UsageError("too short")
        return 0.5

    assert problems(measure(one=none))["one value for each case"] == "it refuses every case"
    assert problems(measure(one=few)) == {}


def test_a_value_may_not_depend_on_its_neighbours() -> None:
    """One that does for a single case is found, and undefined alone and among others is the same."""

    def score(made: Measure, batch: Batch) -> np.ndarray:  # noqa: ARG001 - a method
        return np.array([0.5 + 1e-6 * (number == 3) for number in range(len(batch))])

    rule = "a value does not depend on the cases beside it"
    assert "scores 0.5 alone and 0.500001 among others" in problems(measure(score=score))[rule]
    assert rule not in problems(measure(one=lambda *_: math.nan))


def test_ids_may_not_matter() -> None:
    """A score by the spelling of the ids is found; undefined under either spelling is the same."""

    def one(_: Measure, case: Case) -> float:
        return 0.5 if "a" in case.ranking or "b" not in case.ranking else 0.6

    def first(_: Measure, case: Case) -> float:
        return 0.5 + 1e-6 * (case.ranking[:1] == ["z"])

    rule = "other spellings of the ids change nothing"
    assert rule in problems(measure(one=first))
    assert rule not in problems(measure(one=one))
    assert rule not in problems(measure(one=lambda *_: math.nan))


def test_declared_properties_are_rules_of_their_own() -> None:
    """Those that are declared and no others; a class that cannot be made by its cutoff alone is told."""
    rules = [finding.rule for finding in check_measure(measure(properties=frozenset({"bounded", "perfect"})))]
    assert rules[-2:] == [f"it has the property {name!r}, as it declares" for name in ("bounded", "perfect")]
    found = problems(measure(properties=frozenset({"bounded", "perfect"})))
    assert found == {"it has the property 'perfect', as it declares": "the audit finds otherwise"}
    assert "unknown properties: brilliant" in problems(measure(properties=frozenset({"brilliant"})))[ASKED]

    @dataclass(frozen=True, kw_only=True)
    class Demanding(type(measure())):  # type: ignore[misc] # a class made above
        """One with a parameter that has no default."""

        must: int

    assert "must" in problems(Demanding(cutoff=3, must=1))[ASKED]


def test_code_that_raises_is_a_finding_of_the_rule_it_raised_in() -> None:
    """A division by the number of results, of which there may be none, is told and ends nothing."""
    found = problems(measure(one=lambda _, case: 1 / len(case.ranking)))
    assert found[EMPTY] == found[ASKED] == "it raised ZeroDivisionError: division by zero"
