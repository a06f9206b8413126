"""Numbers and measure names as a person reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from evaluation.measures.measure import UNIT_WORDS, Measure
from evaluation.measures.registry import parse_measure
from evaluation.statistics import BestSet

MINUS = "\N{MINUS SIGN}"
MOST_NAMED = 6
"""Names that one sentence can carry."""


def measure_of(measure: Measure | str) -> Measure:
    """Return the measure with this name; a measure is returned as it is."""
    return measure if isinstance(measure, Measure) else parse_measure(measure)


def is_published(measure: Measure | str) -> bool:
    """Return whether the measure counts chunks or ranks, which mean something different for each chunker."""
    return not measure_of(measure).comparable


def lower_is_better(measure: Measure | str) -> bool:
    """Return whether less is better."""
    return measure_of(measure).direction == "lower"


def is_share(measure: Measure | str) -> bool:
    """Return whether values are shares, which are shown in points of 100."""
    return measure_of(measure).unit == "share"


def scale(measure: Measure | str) -> float:
    """Return the factor by which a value is multiplied for display: 100 for a share, else 1."""
    return 100.0 if is_share(measure) else 1.0


def decimals(measure: Measure | str) -> int:
    """Return the decimals of a column of displayed values."""
    return {"share": 1, "number": 3}.get(measure_of(measure).unit, 0)


def unit_words(measure: Measure | str) -> str:
    """Return the unit of a displayed difference, such as "points" or "tokens"; nothing for a plain number."""
    unit = measure_of(measure).unit
    if unit == "share":
        return "points"
    return "" if unit == "number" or unit == "count" else UNIT_WORDS[unit]  # noqa: PLR1714 - mypy narrows by ==


def number(value: float | None, *, digits: int = 1, signed: bool = False) -> str:
    """Return a number with a true minus sign; a dash if there is none."""
    if value is None or math.isnan(value):
        return "–"
    text = f"{abs(value):,.{digits}f}"
    # A value that rounds to zero has no sign.
    if not text.strip("0.,"):
        return text
    return (MINUS if value < 0 else "+" if signed else "") + text


def score(measure: Measure | str, value: float | None, *, signed: bool = False) -> str:
    """Return a measure's value in points, or in its own unit if it is not a share."""
    if value is None or math.isnan(value):
        return "–"
    unit = measure_of(measure).unit
    if unit == "number":
        return number(value, digits=_digits(value), signed=signed)
    return number(value * scale(measure), digits=decimals(measure), signed=signed)


def _digits(value: float) -> int:
    """Return the number of decimals for three significant digits, without trailing zeros."""
    if value == 0 or not math.isfinite(value):
        return 0
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    while places and round(value, places - 1) == round(value, places):
        places -= 1
    return places


def span(measure: Measure | str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Return an interval, or say that there is none."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "no interval"
    return f"{score(measure, low, signed=signed)} … {score(measure, high, signed=signed)}"


def with_unit(measure: Measure | str, value: float) -> str:
    """Return an amount with its unit: "3.1 points", "420 tokens"."""
    shown = score(measure, value)
    unit = unit_words(measure)
    # One point, but 1.0 points.
    return f"{shown} {unit.removesuffix('s') if shown == '1' else unit}".rstrip()


def at_most(measure: Measure | str, value: float) -> str:
    """Return a bound with its unit, rounded up, so that nothing within the bound exceeds what is shown."""
    digits = _digits(value) if measure_of(measure).unit == "number" else decimals(measure)
    # An amount above a displayed one by a rounding error is that amount, computed another way.
    steps = math.ceil(round(value * scale(measure) * 10**digits, 6))
    return with_unit(measure, steps / 10**digits / scale(measure))


def joined(names: Sequence[str], word: str = "and") -> str:
    """Return "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def named(names: Sequence[str], word: str = "and", *, most: int = MOST_NAMED) -> str:
    """Return the names as a phrase; of many, the first ones and the number of the others."""
    if len(names) <= most:
        return joined(names, word)
    return f"{', '.join(names[: most - 1])} {word} {len(names) - most + 1} more"


def p_value(p: float | None) -> str:
    """Return "p = 0.002"; below the resolution of the flips, "p < 0.0001"."""
    if p is None or math.isnan(p):
        return "no p"
    if p < 0.0001:
        return "p < 0.0001"
    if p > 0.995:
        return "p = 1"
    return f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


_TOGETHER = re.compile(r"(?<=\d) (?=(?:%|points?|tokens|…)(?:\W|$))|(?<=…) (?=[\d+\N{MINUS SIGN}])")


def unbroken(text: str) -> str:
    """Return text with non-breaking spaces between a number and its unit, and inside an interval."""
    return _TOGETHER.sub("\N{NO-BREAK SPACE}", text)


def plural(count: int, noun: str) -> str:
    """Return "1 query", "2 queries"."""
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else many}"


def basis(best: BestSet) -> str:
    """Return what means are over, and what counts once."""
    repositories = plural(best.n_clusters, "repository")
    if best.unit == "repository" and best.weight == "repository":
        return f"each of {repositories} counting once"
    over = f"over {plural(best.n_queries, 'query')} of {repositories}"
    return over if best.n_clusters == 1 else f"{over}, each {best.weight} counting once"


def sparkline(values: Sequence[float]) -> str:
    """Return shares as one block character each, on the fixed scale 0 … 1."""
    blocks = "▁▂▃▄▅▆▇█"
    return "".join(" " if math.isnan(v) else blocks[min(7, max(0, int(v * 8)))] for v in values)
