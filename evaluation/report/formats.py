"""Numbers and measure names as a person reads them."""

from __future__ import annotations

import math
import re

from evaluation.measures.registry import parse_measure

_COUNTS = re.compile(r"(to_recall|_behind|relevant)$")
_BUDGET = re.compile(r"@(\d+)(tok|nws|lines|chars)(?=\(|$)")
_UNITS = {"tok": "tokens", "nws": "non-whitespace characters", "lines": "lines", "chars": "characters"}
MINUS = "\N{MINUS SIGN}"


def base_name(measure: str) -> str:
    """Return the measure's name without its cutoff and parameters."""
    return re.split(r"[@(:]", measure, maxsplit=1)[0]


def is_published(measure: str) -> bool:
    """Say whether the measure looks at chunk ids or at a number of chunks, which mean another thing per chunker."""
    parsed = parse_measure(measure)
    per_chunk = getattr(parsed, "cutoff", None) is not None and not parsed.label.startswith("file_")
    return per_chunk or "text" not in parsed.needs


def lower_is_better(measure: str) -> bool:
    """Say whether less is better."""
    return parse_measure(measure).direction == "lower"


def is_count(measure: str) -> bool:
    """Say whether the measure counts something rather than being a share."""
    return _COUNTS.search(base_name(measure)) is not None


def scale(measure: str) -> float:
    """Return what a value is multiplied with to be shown: 1 for counts, 100 for shares."""
    return 1.0 if is_count(measure) else 100.0


def budget_words(measure: str) -> str:
    """Return "4,000 tokens" for a measure with a budget, and nothing for others."""
    found = _BUDGET.search(measure)
    return f"{int(found[1]):,} {_UNITS[found[2]]}" if found else ""


def number(value: float | None, *, digits: int = 1, signed: bool = False) -> str:
    """Return a number with a true minus sign; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    text = f"{abs(value):,.{digits}f}"
    # A value that rounds to zero has no sign.
    if not text.strip("0.,"):
        return text
    return (MINUS if value < 0 else "+" if signed else "") + text


def score(measure: str, value: float | None, *, signed: bool = False) -> str:
    """Return a measure's value in points, or in its own unit where it is not a share."""
    if value is None:
        return "–"
    factor = scale(measure)
    return number(value * factor, digits=0 if is_count(measure) else 1, signed=signed)


def span(measure: str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Return an interval, or say that there is none."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "no interval"
    return f"{score(measure, low, signed=signed)} … {score(measure, high, signed=signed)}"


def p_value(p: float | None) -> str:
    """Return "p = 0.002"; below what the flips can resolve, "p < 0.0001"."""
    if p is None or math.isnan(p):
        return "no p"
    if p < 0.0001:
        return "p < 0.0001"
    if p > 0.995:
        return "p = 1"
    return f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def plural(count: int, noun: str) -> str:
    """Return "1 query", "2 queries"."""
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else many}"


def sparkline(values: list[float]) -> str:
    """Return shares as one block character each, on the fixed scale 0 … 1."""
    blocks = "▁▂▃▄▅▆▇█"
    return "".join(" " if math.isnan(v) else blocks[min(7, max(0, int(v * 8)))] for v in values)


def writable(text: str) -> str:
    """Return text that UTF-8 can hold: what was not UTF-8 in a source file shows as a replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
