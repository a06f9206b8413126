"""Selects the rows of a published file that the user requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol, TypeVar

from chunkers.errors import UsageError
from chunkers.plugins import nearest


class OfRepository(Protocol):
    """A row about one repository."""

    @property
    def repo(self) -> str:
        """The repository's name in the file."""


R = TypeVar("R", bound=OfRepository)


def choose_rows(rows: Sequence[R], repositories: str, *, limit: int | None, path: str) -> list[R]:
    """Return the rows of ``all`` repositories or of those named (with commas), at most ``limit`` of each."""
    known = sorted({row.repo for row in rows})
    wanted = set(known) if repositories == "all" else {name.strip() for name in repositories.split(",")}
    if unknown := sorted(wanted.difference(known)):
        listed = ", ".join(known[:12]) + (f" and {len(known) - 12} more" if len(known) > 12 else "")
        raise UsageError(f"{path} has no row of {unknown[0]!r}.{nearest(unknown[0], known)} It has: {listed}")
    taken: Counter[str] = Counter()
    chosen = []
    for row in rows:
        taken[row.repo] += 1
        if row.repo in wanted and (limit is None or taken[row.repo] <= limit):
            chosen.append(row)
    return chosen
