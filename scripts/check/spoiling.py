"""Randomly corrupted inputs: bytes, tokens and JSON values, reproducible by seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

TOKENS: tuple[bytes, ...] = (
    b"", b"0", b"-1", b"+-5", b"1e308", b"-1e308", b"1e999", b"nan", b"NaN", b"Infinity", b"9" * 5_000, b"1_000",
    b"0x10",
    b"2147483648", b"18446744073709551616", b"null", b"true", b"{}", b"[]", b'""', b'"', b"'", b"\\", b"\\u0000",
    b"\\ud800", b"[" * 3_000, b'{"a":' * 3_000, b"]" * 50, b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r",
    b"\r\n",
    b"\n", b"\n\n", b"\t", b" ", b"\xe2\x80\xa8", b"\x1b[2J", b"\x1b]0;x\x07", b"[/x]", b"[bold]", b"=1+1", b"@x",
    b"../..",
    b"/etc/passwd", b"..", b".", b"/", b"a" * 5_000, b"%s%n", b"{0}", b"${x}", b"<script>", b"|", b"*a" * 30,
    b"**/" * 30,
    b"[z-a]", b"!", b"#", b"--", b"@@ -1,999999 +1 @@", b"@@ -0,0 +0,0 @@", b"--- a/x\n+++ b/x\n", b"\\ No newline",
    b"docstrings", b"0" * 64, b"f" * 40, b"HEAD", b"ref: refs/heads/x", b"gitdir: /", b"PK\x03\x04", b"\x1f\x8b",
    b"PAR1",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 10**18, -(10**18), 10**30, 1e308, -1e308, 0.5, "", " ", "\0", "\ud800", "x" * 3_000,
    "\x1b[2J",
    "[/x]", "=1+1", "..", "/", "nan", [], {}, [[]], [None], {"": None}, [1, "a", None], {"a": {"b": []}}, "0" * 5_000,
)  # fmt: skip


def spoiled(data: bytes, rng: random.Random) -> bytes:
    """Return the data with one to four errors; JSON is often corrupted as JSON, so that it still parses."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_WAYS)(data, rng)
    return data


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _remove(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + data[at + rng.choice((1, 2, 8, 64)) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    part = data[at : at + rng.choice((1, 4, 32, 256))]
    return data[:at] + part * rng.choice((2, 3, 20)) + data[at:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _replace_word(data: bytes, rng: random.Random) -> bytes:
    """Replace the text between two separators by a token."""
    marks = [0, *(at for at, byte in enumerate(data[:20_000]) if byte in b" \t\n,:=\"'[]{}"), len(data)]
    at = rng.randrange(len(marks) - 1) if len(marks) > 1 else 0
    start, end = marks[at] + 1, marks[min(at + 1, len(marks) - 1)]
    return data[:start] + rng.choice(TOKENS) + data[max(start, end) :]


def _swap_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _noise(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.randbytes(rng.choice((1, 8, 100))) + data[at:]


def _json_value(data: bytes, rng: random.Random) -> bytes:
    """Replace, remove or rename one value of a JSON text, or of one of its lines."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    for whole, text in ((True, data), (False, lines[at])):
        try:
            value = json.loads(text)
            made = json.dumps(_changed(value, rng)).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):
            continue
        if whole:
            return made
        lines[at] = made
        return b"\n".join(lines)
    return _insert(data, rng)


def _changed(value: Any, rng: random.Random) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        way = rng.random()
        if way < 0.1:
            return {name: each for name, each in value.items() if name != key}
        if way < 0.2:
            return {(name if name != key else "other"): each for name, each in value.items()}
        return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        return [*value[:at], *([] if rng.random() < 0.1 else [_changed(value[at], rng)]), *value[at + 1 :]]
    return rng.choice(VALUES)


_WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip, _cut, _remove, _repeat, _insert, _insert, _replace_word, _replace_word, _swap_lines, _noise, _json_value,
    _json_value, _json_value,
)  # fmt: skip
