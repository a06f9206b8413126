"""What a result file can contain: text, and so no path with bytes that are not UTF-8."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def is_writable(text: str) -> bool:
    """Return whether the text can be written as UTF-8; Python represents other bytes of a path as surrogates."""
    return _SURROGATE.search(text) is None


def valid_text(text: str) -> str:
    """Return text that UTF-8 can encode: other bytes, and halves of characters, show as replacement characters."""
    if is_writable(text):
        return text
    return _NO_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_bytes(text: str) -> bool:
    """Return whether the text represents bytes: UTF-8, and others as surrogates."""
    return _NO_BYTE.search(text) is None
