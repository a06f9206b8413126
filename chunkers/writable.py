"""What a result file can hold: text, and so no path with bytes that are not UTF-8."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def is_writable(text: str) -> bool:
    """Return whether the text can be written as UTF-8; Python reads other bytes of a path as surrogates."""
    return _SURROGATE.search(text) is None
