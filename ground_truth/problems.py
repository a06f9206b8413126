"""Unusable rows: an error with file and row, or skipped and counted, as the user chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from chunkers.errors import UsageError

Policy = Literal["error", "skip"]
"""`error` rejects the dataset at its first unusable row; `skip` leaves such rows out and counts them by reason."""


class RowProblemError(UsageError):
    """A single well-formed row cannot be used; rows are counted by ``reason``."""

    def __init__(self, where: str, reason: str, detail: str) -> None:
        super().__init__(f"{where}: {reason}: {detail}")
        self.reason = reason


class Skips:
    """The skipped rows, counted by reason; malformed data is an error whatever the policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._counts: Counter[str] = Counter()

    @contextmanager
    def row(self, *, of: int = 1) -> Iterator[None]:
        """Run the body for one row (or ``of`` rows that share it): its problem is raised or counted."""
        try:
            yield
        except RowProblemError as problem:
            self.note(problem, of=of)

    def note(self, problem: RowProblemError, *, of: int = 1) -> None:
        """Raise the problem, or count it."""
        if self.policy == "error":
            raise UsageError(f"{problem} (or write problems=skip to leave such rows out, counted)") from None
        self._counts[problem.reason] += of

    def rows(self, used: int) -> int:
        """Return how many rows there are: those used, and those skipped."""
        return used + self._counts.total()

    @property
    def counts(self) -> dict[str, int]:
        """Reason → rows, most frequent first."""
        return dict(self._counts.most_common())

    def __str__(self) -> str:
        """Return the counts in one line: 3 no clone, 1 duplicate row."""
        return ", ".join(f"{count} {reason}" for reason, count in self.counts.items()) or "there are no rows"
