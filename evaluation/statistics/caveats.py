"""Limits on conclusions, in words, from the number, sizes and values of the repositories."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.statistics.evidence import GUARDED_FROM, Group, Span
from evaluation.statistics.samples import Repositories
from evaluation.statistics.types import MIN_REPOSITORIES

_HALF = 0.5
_SKEWED = 0.2
"""|skewness|/√n from which Cochran's rule considers a mean not normal."""


def caveats(group: Group, place: int, *, repositories: Repositories, row: int, queries: int, span: Span) -> list[str]:
    """Return the caveats of one comparison; ``place`` is its row in the group, ``row`` in all."""
    sizes = repositories.sizes[row]
    if not sizes.any():
        return ["two of those compared have no query in common that has a value"]
    found = []
    if undefined := queries - int(sizes.sum()):
        found.append(f"{undefined} of {queries} queries have no value and are left out")
    if empty := int((sizes == 0).sum()):
        found.append(f"{empty} of {len(sizes)} repositories have no value and are left out")
    if group.unit == "query":
        found += _of_queries(group, place, int((sizes > 0).sum()), span)
    else:
        found += _of_repositories(group, place, repositories, row)
    return found


def _of_queries(group: Group, place: int, repositories: int, span: Span) -> Iterator[str]:
    these = "this repository" if repositories == 1 else f"these {repositories} repositories"
    yield f"holds for {these} only: below {MIN_REPOSITORIES} repositories, single queries are the unit"
    if group.method.startswith("sign flips"):
        if _skewness(group, place) > _SKEWED:
            yield "sign flips assume symmetric differences, and these are skewed: the p may be too small"
    elif not span.known:
        yield "the measure has no fixed range: the interval takes the range of the scores that were seen for it"


def _of_repositories(group: Group, place: int, repositories: Repositories, row: int) -> Iterator[str]:
    sizes, weights = repositories.sizes[row], group.samples.weights[place]
    if group.method.startswith("t over") and sizes.sum() < GUARDED_FROM * group.samples.counts[place]:
        yield "fewer than two queries per repository: a rare large difference that these miss would not be noticed"
    if weights.max() > _HALF:
        heaviest = repositories.labels[int(weights.argmax())]
        yield f"{heaviest} holds {100 * weights.max():.0f} % of the queries and decides most of this"
    elif sizes.max() > _HALF * sizes.sum():
        heaviest = repositories.labels[int(sizes.argmax())]
        yield f"{heaviest} holds {100 * sizes.max() / sizes.sum():.0f} % of the queries and counts as one repository"
    least = 2.0 ** (1 - group.samples.counts[place])
    if group.exact and least > 0.01:
        yield f"{group.samples.counts[place]} repositories cannot give a p below {least:.3f} by sign flips"


def skewed(group: Group, place: int) -> list[str]:
    """Return a warning if a few repositories differ far more than the others, beyond what chance would explain."""
    count = int(group.samples.counts[place])
    if group.unit == "query" or count < 3:
        return []
    # Twice the standard deviation of the skewness of that many normal values.
    by_chance = 2 * np.sqrt(6 * (count - 2) / ((count + 1) * (count + 3)) / count)
    if _skewness(group, place) <= max(_SKEWED, by_chance):
        return []
    return ["a few repositories differ far more than the others: a false alarm is likelier than the stated 5 %"]


def _skewness(group: Group, place: int) -> float:
    values, weights = group.samples.values[place], group.samples.weights[place]
    parts = weights * (values - (weights * values).sum())
    spread = np.square(parts).sum()
    return float(abs((parts**3).sum()) / spread**1.5) if spread > 0 else 0.0
