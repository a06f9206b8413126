"""What a result file can contain: text, and so no path with bytes that are not UTF-8."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def is_writable(text: str) -> bool:
    """Return whether the text can be written as UTF-8; Python represents other bytes of a path as surrogates."""
    return _SURROGATE.search(text) is None


def is_bytes(text: str) -> bool:
    """Return whether the text represents bytes: UTF-8, and others as surrogates."""
    return _NO_BYTE.search(text) is None
