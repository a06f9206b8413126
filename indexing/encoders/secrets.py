"""Removes a key from text, in whatever form a server echoes it."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

_PART = 8
"""A run of this many characters of a key is too long to show."""


def redacted(text: str, secret: str) -> str:
    """Return the text without the secret, any longer part of it, and its usual encodings."""
    if not secret:
        return text
    hidden = bytearray(len(text))
    for form in _forms(secret):
        size = min(_PART, len(form))
        parts = {form[at : at + size] for at in range(len(form) - size + 1)}
        for at in range(len(text) - size + 1):
            if text[at : at + size] in parts:
                hidden[at : at + size] = b"\1" * size
    kept = []
    for sign, is_hidden in zip(text, hidden, strict=True):
        if not is_hidden:
            kept.append(sign)
        elif not kept or kept[-1] != "…":
            kept.append("…")
    return "".join(kept)


def _forms(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogateescape")
    # Depending on the length of the preceding text modulo 3, base64 encodes the same bytes in three ways.
    coded = {base64.b64encode(b"\0" * over + data).decode()[4 if over else 0 :].rstrip("=")[:-1] for over in range(3)}
    written = {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), html.escape(secret), data.hex(), secret[::-1]}
    spaced = {ascii(secret)[1:-1], secret.upper(), secret.lower()}
    return {form for form in written | coded | spaced if form}
