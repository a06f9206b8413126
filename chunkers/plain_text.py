"""Text from outside, made safe to show: a terminal obeys control characters, and a reader is misled by hidden ones."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and line end, marks that turn the direction of writing, and lone surrogates.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff]"
)

_FORMULA = frozenset("=+-@")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\Z")


def shown(text: str) -> str:
    """Return the text with what a terminal would obey written out, as Python's ``ascii`` does."""
    return _COMMANDS.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str, *, limit: int = 2_000) -> str:
    """Return the text on one line that is safe to show and not long."""
    line = shown(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def csv_cell(value: object) -> object:
    """Return a cell that a spreadsheet takes as text: one that begins as a formula gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = shown(value)
    return f"'{text}" if text.lstrip()[:1] in _FORMULA and not _NUMBER.match(text) else text
