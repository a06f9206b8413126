"""Progress callbacks of a running experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _ignore(_phase: str, _count: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Progress:
    """Two callbacks; both ignore progress by default."""

    phase: Callable[[str, int], None] = _ignore
    """A phase begins, with this many units."""
    tick: Callable[[str, int], None] = _ignore
    """This many more units of a phase are done."""
