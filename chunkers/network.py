"""Whether downloads are allowed: a read-only command (`plan`) downloads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from chunkers.errors import UsageError

_offline = ContextVar("offline", default=False)


@contextmanager
def offline() -> Iterator[None]:
    """Forbid downloads while the block runs."""
    before = _offline.set(True)
    try:
        yield
    finally:
        _offline.reset(before)


def check_download(what: str) -> None:
    """Raise if downloads are forbidden, naming the item."""
    if _offline.get():
        raise UsageError(f"{what} is not on this machine, and this command downloads nothing: run the experiment first")
