"""What the headers above texts cost a reader."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from chunkers.sizes import ruler
from chunkers.types import SizeUnit


def header_cost(header: str, unit: SizeUnit) -> int:
    """Return the units of a header with the line feed below it; 0 if there is no header."""
    data = (header + "\n").encode("utf-8", "surrogateescape")
    return ruler(data, unit).count(0, len(data)) if header else 0


def header_tokens(headers: Sequence[str]) -> np.ndarray:
    """Return the tokens that each header adds to its text."""
    cost = functools.cache(header_cost)
    return np.array([cost(header, "tokens") for header in headers], dtype=np.int64)
