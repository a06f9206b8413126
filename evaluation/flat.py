"""Flattens nested inputs into paths and values, so that two of them can be compared part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flat(value: object) -> dict[str, Any]:
    """Return "a.b" → value for every value in nested mappings; tuples are lists, as in JSON."""
    return dict(_parts(value, ""))


def _parts(value: object, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _parts(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, list(value) if isinstance(value, tuple) else value
