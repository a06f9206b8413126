"""Reorders dense results for diversity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.composed import Composed, ExactSearch
from indexing.dense import VectorSearch
from indexing.exact import VectorsOf
from indexing.found import Found, table
from indexing.types import Vectors

_DIGITS = 12
"""Values are compared to this many digits: copies of one chunk tie, however their sums were rounded."""


@dataclass(frozen=True, kw_only=True)
class _Greedy(Composed):
    """Picks greedily from a pool of the nearest chunks; chunks beyond the pool keep the order of dense search.

    Only the order is meaningful: scores are reciprocal ranks.
    """

    uses_vectors: ClassVar[bool] = True

    pool: int = 100
    """How many of the nearest chunks can be picked."""

    @property
    def searches(self) -> tuple[ExactSearch, ...]:
        """The vector search that provides the pool."""
        return (VectorSearch(),)

    def reach(self, depth: int) -> int:
        """Return how many of the nearest chunks are needed."""
        return max(depth, self.pool)

    def combine(self, found: Sequence[Found], vectors_of: VectorsOf, *, depth: int) -> Found:
        """Return depth chunks per query in the order of picking; equal values by relevance, then position."""
        (near,) = found
        rows_of = _looked_up(near.positions[:, : self.pool], vectors_of)
        runs = []
        for hits in near.hits():
            pool, rest = hits[: self.pool], hits[self.pool :]
            picks: Iterable[int] = ()
            if pool:
                rows = rows_of([hit.position for hit in pool]).astype(np.float64)
                relevance = np.array([hit.score for hit in pool])
                picks = self._picks(relevance, np.round(rows @ rows.T, _DIGITS), count=min(depth, len(pool)))
            order = [*(pool[at].position for at in picks), *(hit.position for hit in rest)][:depth]
            runs.append((np.array(order, dtype=np.int64), 1 / np.arange(1, len(order) + 1)))
        return table(runs, depth=depth, dtype=np.float64)

    @abstractmethod
    def _picks(self, relevance: np.ndarray, similarity: np.ndarray, *, count: int) -> Iterator[int]:
        """Yield the index of the next candidate; candidates are ordered by relevance."""


@dataclass(frozen=True, kw_only=True)
class MMR(_Greedy):
    """Maximal marginal relevance (Carbonell and Goldstein 1998)."""

    version: ClassVar[str] = "1"

    balance: float = 0.7
    """1: relevance alone; 0: after the first result, only difference from the earlier ones."""

    def __post_init__(self) -> None:
        positive(self, "pool")
        if not 0 <= self.balance <= 1:
            raise UsageError(f"balance must be between 0 and 1, not {self.balance}")

    def _picks(self, relevance: np.ndarray, similarity: np.ndarray, *, count: int) -> Iterator[int]:
        # Similarity is never below -1, so nothing penalises the first pick.
        closest = np.full(len(relevance), -1.0)
        left = np.ones(len(relevance), dtype=np.bool_)
        for _ in range(count):
            value = np.round(self.balance * relevance - (1 - self.balance) * closest, _DIGITS)
            at = int(np.argmax(np.where(left, value, -np.inf)))
            yield at
            left[at] = False
            closest = np.maximum(closest, similarity[at])


@dataclass(frozen=True, kw_only=True)
class Dartboard(_Greedy):
    """Relevant information gain (Pickett et al. 2024).

    A target is drawn around the query, with a Gaussian of width sigma over cosine distance; the picked set is the one
    whose best member is expected to be nearest to it.
    """

    version: ClassVar[str] = "1"

    sigma: float = 0.1

    def __post_init__(self) -> None:
        positive(self, "pool", "sigma")

    def _picks(self, relevance: np.ndarray, similarity: np.ndarray, *, count: int) -> Iterator[int]:
        to_query = self._log_gaussian(1 - relevance)
        between = self._log_gaussian(1 - similarity)
        nearest = between[0]
        yield 0
        # Gains only fall as the set grows: an old gain is an upper bound, and only the leader is recomputed.
        gain = _log_gain(between, nearest, to_query)
        made = np.ones(len(relevance), dtype=np.int64)
        left = np.ones(len(relevance), dtype=np.bool_)
        left[0] = False
        for rank in range(2, count + 1):
            while made[at := _first_best(gain, left)] < rank - 1:
                gain[at] = _log_gain(between[at : at + 1], nearest, to_query)[0]
                made[at] = rank - 1
            yield at
            left[at] = False
            nearest = np.maximum(nearest, between[at])

    def _log_gaussian(self, distance: np.ndarray) -> np.ndarray:
        """Return the log density, without the constant that all candidates share."""
        density: np.ndarray = -0.5 * (distance / self.sigma) ** 2
        return density


def _log_gain(between: np.ndarray, nearest: np.ndarray, to_query: np.ndarray) -> np.ndarray:
    """Return, per candidate, the log of what it adds to the expected best density; -inf if nothing.

    The sum with the candidate has the same maximum, but a gain that is small relative to the sum would be rounded away.
    """
    closer = between > nearest
    targets = np.nonzero(closer)[1]
    new, old = between[closer], nearest[targets]
    terms = np.full(between.shape, -np.inf)
    terms[closer] = to_query[targets] + new + np.log(-np.expm1(old - new))
    high = terms.max(axis=1)
    finite = np.isfinite(high)
    gain = np.full(len(between), -np.inf)
    gain[finite] = high[finite] + np.log(np.exp(terms[finite] - high[finite, None]).sum(axis=1))
    return np.round(gain, _DIGITS)


def _first_best(values: np.ndarray, left: np.ndarray) -> int:
    """Return the first of the highest values among the remaining candidates, -inf included."""
    candidates = np.flatnonzero(left)
    return int(candidates[np.argmax(values[candidates])])


def _looked_up(positions: np.ndarray, vectors_of: VectorsOf) -> Callable[[Sequence[int]], Vectors]:
    """Return a look-up of rows by position, after fetching all of them once."""
    known = np.unique(positions[positions >= 0])
    vectors = vectors_of(known)

    def rows(wanted: Sequence[int]) -> Vectors:
        found: Vectors = vectors[np.searchsorted(known, wanted)]
        return found

    return rows
