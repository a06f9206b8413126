"""Makes untrusted text safe to display: terminals obey control characters, and hidden ones mislead readers."""

from __future__ import annotations

import re

# C0 and C1 controls except tab and line end, marks that change the direction of writing, and lone surrogates.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff]"
)

_FORMULA = frozenset("=+-@")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\Z")


def shown(text: str) -> str:
    """Return the text with everything a terminal would obey escaped, like Python's ``ascii``."""
    return _COMMANDS.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str, *, limit: int = 2_000) -> str:
    """Return the text on one line, safe to display and not long."""
    line = shown(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def csv_cell(value: object) -> object:
    """Return a cell that a spreadsheet treats as text: one that begins like a formula gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = shown(value)
    return f"'{text}" if text.lstrip()[:1] in _FORMULA and not _NUMBER.match(text) else text
