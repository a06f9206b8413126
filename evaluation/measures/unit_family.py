"""One measure in several units of text: tokens_behind, nws_behind and lines_behind are one definition."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import TypeVar

from chunkers.types import SizeUnit
from evaluation.measures.measure import UNIT_WORDS, Measure

M = TypeVar("M", bound=Measure)


def in_unit(measure: type[M], unit: SizeUnit) -> type[M]:
    """Return the measure of tokens as a measure of another unit, with a name to match."""
    renamed = {name: getattr(measure, name).replace("tokens", unit) for name in ("label", "pattern")}
    said = {name: getattr(measure, name).replace("tokens", UNIT_WORDS[unit]) for name in ("definition", "template")}
    namespace = {**renamed, **said, "unit": unit, "size_unit": unit, "__module__": measure.__module__}
    name = measure.__name__.replace("Tokens", unit.capitalize())
    made: type[M] = make_dataclass(name, [], bases=(measure,), namespace=namespace, frozen=True, kw_only=True)
    made.__doc__ = (measure.__doc__ or "").replace("Tokens", UNIT_WORDS[unit].capitalize())
    return made
