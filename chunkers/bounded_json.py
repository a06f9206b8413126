"""Parses untrusted JSON: anything wrong with it, including depth, digits and duplicate names, is a ValueError."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any


def parse_json(text: str | bytes, *, finite: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value; raise ValueError (usually JSONDecodeError) for anything that cannot be parsed.

    With ``finite``, NaN and infinities are refused too: files written here hold none.
    """
    numbers: dict[str, Any] = {"parse_constant": _finite, "parse_float": _finite} if finite else {}
    try:
        return json.loads(text, object_pairs_hook=_object, **numbers)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is no number")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as an object; parsers differ in which of two values under one name they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{twice[:40]!r} occurs twice in one object")
    return found
