"""Whether something may be downloaded: a command that only looks (`plan`) reaches for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from chunkers.errors import UsageError

_offline = ContextVar("offline", default=False)


@contextmanager
def offline() -> Iterator[None]:
    """Have nothing downloaded while the block runs."""
    before = _offline.set(True)
    try:
        yield
    finally:
        _offline.reset(before)


def check_download(what: str) -> None:
    """Raise where nothing may be downloaded, naming what would have been."""
    if _offline.get():
        raise UsageError(f"{what} is not on this machine, and this command downloads nothing: run the experiment first")
