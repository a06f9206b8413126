"""What a comparison of two chunkers ends as, and what an interval is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Unit = Literal["repository", "query"]
TestName = Literal["sign-flip", "tukey-hsd", "paired-t", "wilcoxon"]

MIN_REPOSITORIES = 6
"""With fewer, no flip of whole repositories can reach p < 0.05 (the least p is 2^(1-G))."""

SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval; low and high are NaN where the data cannot give one, and the caveat says why."""

    mean: float
    low: float
    high: float
    method: str
    """"cluster-bootstrap", "cluster-t", "query-t" or "none"."""
    n: int
    """Queries with a value."""
    undefined: int = 0
    """Queries whose value is NaN; they are left out of the mean."""
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paired difference ``a - b``: how large, how sure, and over what."""

    a: str
    b: str
    difference: float
    low: float
    high: float
    p: float
    p_maxt: float | None
    """Corrected for the whole family by single-step max-T; None for a test that has no such correction."""
    p_holm: float
    effect: float | None
    """d_z over queries; None where the differences do not vary."""
    wins: int
    ties: int
    losses: int
    unit: Unit
    n_clusters: int
    n_queries: int
    caveat: str
    needed: int | None
    """Units (repositories or queries, see ``unit``) that would show a difference of this size with 80 % power;
    None when it is shown already, or when no practical number would do."""
    test: TestName
    family: int
    """Comparisons that were corrected for."""
    flips: int
    """Sign vectors that were tried; 0 for a test without flips."""
    exact: bool
    seed: int
    method: str
    """How the interval was made."""

    @property
    def p_corrected(self) -> float:
        """The family-wise p that a claim rests on."""
        return self.p_holm if self.p_maxt is None else self.p_maxt

    @property
    def shown(self) -> bool:
        """Whether a difference is shown after correction."""
        return self.p_corrected <= SIGNIFICANT

    def row(self) -> dict[str, Any]:
        """Return the comparison as a plain mapping for JSON, with the two derived values."""
        found = {**asdict(self), "p_corrected": self.p_corrected, "shown": self.shown}
        # JSON has no NaN: an interval that the data cannot give is null.
        return {name: None if value != value else value for name, value in found.items()}  # noqa: PLR0124 - NaN alone differs from itself
