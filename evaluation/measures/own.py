"""Requirements on a custom measure in use: facts that tables can read, and values within its range."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

import numpy as np

from chunkers.errors import UsageError, reason_of
from chunkers.findings import examine
from chunkers.targets import file_of, target_of
from evaluation.measures.measure import Measure, Need, Unit
from evaluation.measures.registry import MEASURES

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch

_ROUNDING = 1e-9


class MeasureError(UsageError):
    """A custom measure failed, or its values are not as declared; the message names it."""


def declaration_problems(measure: Measure) -> Iterator[str]:
    """Yield every declared fact that is missing or unknown here."""
    for name in ("label", "pattern", "definition", "citation", "version"):
        value = getattr(measure, name, None)
        if not isinstance(value, str) or not value:
            yield f'{name} is not a text: write {name}: ClassVar[str] = "…"'
    if measure.direction not in ("higher", "lower", "none"):
        yield f"direction is {measure.direction!r}: higher, lower or none"
    low, high = measure.range
    if not low < high:
        yield f"range is {measure.range}: the least value, then the largest"
    if measure.unit not in get_args(Unit):
        yield f"unit is {measure.unit!r}: one of {', '.join(get_args(Unit))}"
    comparable: object = measure.comparable
    if not isinstance(comparable, bool):
        yield "comparable is neither True nor False"
    unknown = measure.needs - set(get_args(Need))
    if unknown:
        yield f"needs {', '.join(sorted(unknown))}, which no case has"


def declared_well(measure: Measure) -> Measure:
    """Return the measure; raise if it is a custom one with an invalid declaration."""
    if not _is_own(measure):
        return measure
    (finding,) = examine(measure, {"declared": declaration_problems})
    if finding.problem:
        raise UsageError(f"measure {_place(measure)}: {finding.problem}")
    return measure


def values_of(measure: Measure, batch: Batch) -> np.ndarray:
    """Return one value for each case; a custom measure that fails or leaves its range is named."""
    if not _is_own(measure):
        return measure.score(batch)
    try:
        values = np.asarray(measure.score(batch), dtype=float)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise MeasureError(f"measure {_called(measure)} failed: {reason_of(error)}") from error
    if values.shape != (len(batch),):
        raise MeasureError(
            f"measure {_called(measure)} gave values of shape {values.shape} for {len(batch)} queries: "
            "return one for each"
        )
    _check_range(measure, values, batch)
    return values


def _check_range(measure: Measure, values: np.ndarray, batch: Batch) -> None:
    low, high = measure.range
    outside = np.isinf(values) | (values < low - _ROUNDING) | (values > high + _ROUNDING)
    for place in np.flatnonzero(outside)[:1]:
        query = batch.cases[place].query_id.partition("\x1f")[0]  # the rest numbers its answers
        raise MeasureError(
            f"measure {_called(measure)} scored {values[place]:g} for query {query!r}, outside its range, {low:g} to "
            f"{high:g}: declare the range that its values can have, and NaN where it has none"
        )


def _called(measure: Measure) -> str:
    return f"{measure.name} ({_place(measure)})"


def _place(measure: Measure) -> str:
    cls = type(measure)
    file = file_of(cls.__module__)
    return f"{file.name if file else cls.__module__}:{cls.__qualname__}"


def _is_own(measure: Measure) -> bool:
    """Return whether the measure is neither built in nor derived from another one."""
    return not measure.parts and target_of(type(measure)) not in _built_in()


@functools.cache
def _built_in() -> frozenset[str]:
    return frozenset(entry.target for entry in MEASURES.builtin.values())
