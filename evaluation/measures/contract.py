"""The contract of every measure, for `chunkbench check-plugin measure` and for our own tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from chunkers.errors import UsageError
from chunkers.findings import Check, Finding, examine, raised
from evaluation.measures import audit_worlds as world
from evaluation.measures.audit import audit_measure, specimen
from evaluation.measures.batch import Batch
from evaluation.measures.measure import Measure
from evaluation.measures.own import declaration_problems
from evaluation.types import Case

_CLOSE = 1e-9


def check_measure(measure: Measure) -> list[Finding]:
    """Return each rule with its violations; the properties that the measure declares are rules too."""
    return [*examine(measure, _RULES), *_declared_properties(measure)]


def _named(measure: Measure) -> Iterator[str]:
    if measure.name != replace(measure).name:
        yield "an equal measure has another name"
    head = measure.name.partition("(")[0].partition("@")[0]
    if head != measure.label:
        yield f"the name {measure.name!r} does not begin with the label {measure.label!r}"
    if measure.name != measure.name.lower():
        yield f"the name {measure.name!r} is not in lower case, as measures are looked up"


def _one_each(measure: Measure) -> Iterator[str]:
    cases = _answered(measure)
    values = _scores(measure, cases)
    if not cases:
        yield "it refuses every case"
    if values.shape != (len(cases),):
        yield f"{len(cases)} cases gave values of shape {values.shape}: one value for each"


def _in_range(measure: Measure) -> Iterator[str]:
    low, high = measure.range
    cases = _answered(measure)
    for case, value in zip(cases, _scores(measure, cases), strict=True):
        if not (math.isnan(value) or low - _CLOSE <= value <= high + _CLOSE):
            yield f"the ranking {' '.join(case.ranking) or 'of nothing'} scores {value:g}, outside {low:g} to {high:g}"


def _alone(measure: Measure) -> Iterator[str]:
    cases = _answered(measure)
    for case, value in zip(cases, _scores(measure, cases), strict=True):
        single = _scores(measure, [case])[0]
        if not np.isclose(single, value, rtol=0, atol=_CLOSE, equal_nan=True):
            yield f"the ranking {' '.join(case.ranking)} scores {single:g} alone and {value:g} among others"


def _renamed(measure: Measure) -> Iterator[str]:
    for ranking in world.RANKINGS[::7]:
        plain, renamed = (
            _scores(measure, [world.item_case(ranking, world.GRADED, names=names)])[0] for names in ("", "zyxwv")
        )
        if not np.isclose(plain, renamed, rtol=0, atol=_CLOSE, equal_nan=True):
            yield f"the ranking {' '.join(ranking)} scores {plain:g}, with other ids {renamed:g}"


def _empty(measure: Measure) -> Iterator[str]:
    try:
        value = _scores(measure, [world.item_case((), world.BINARY)])[0]
    except UsageError:
        return
    low, high = measure.range
    if not math.isnan(value) and not low - _CLOSE <= value <= high + _CLOSE:
        yield f"a query without results scores {value:g}"


_RULES: dict[str, Check[Measure]] = {
    "label, pattern, definition, citation, unit, direction, range and needs are declared": declaration_problems,
    "its name is its label with what follows": _named,
    "one value for each case": _one_each,
    "every value lies in the declared range": _in_range,
    "a value does not depend on the cases beside it": _alone,
    "other spellings of the ids change nothing": _renamed,
    "a query without results has a value, NaN, or a refusal in one line": _empty,
}


def _declared_properties(measure: Measure) -> list[Finding]:
    cls = type(measure)
    try:
        items = specimen(cls, budget=25, cutoff=len(world.ITEMS))
        found = audit_measure(items, specimen(cls, budget=world.FILE_UNITS // 2, cutoff=2))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever third-party code raises is the finding
        return [Finding("its declared properties can be asked", raised(error))]
    return [
        Finding(
            f"it has the property {each.name!r}, as it declares", "the audit finds otherwise" if each.broken else ""
        )
        for each in found
        if each.declared
    ]


def _cases() -> list[Case]:
    rankings = [*world.RANKINGS[::13], ("e",), ("a",), ()]
    plain = [world.item_case(ranking, grades) for grades in (world.BINARY, world.GRADED) for ranking in rankings]
    return [replace(case, query_id=str(number)) for number, case in enumerate(plain)]


def _answered(measure: Measure) -> list[Case]:
    """Return the cases that the measure accepts; rank correlation, for one, rejects missing items."""
    return [case for case in _cases() if _is_answered(measure, case)]


def _is_answered(measure: Measure, case: Case) -> bool:
    try:
        measure.score(Batch([case], [measure]))
    except UsageError:
        return False
    return True


def _scores(measure: Measure, cases: list[Case]) -> np.ndarray:
    return np.asarray(measure.score(Batch(cases, [measure])), dtype=float)
