"""How much better one candidate may be than another: one-sided bounds on paired differences, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.statistics import Weight
from evaluation.statistics.evidence import Settings, weigh
from evaluation.statistics.intervals import weighted_mean
from evaluation.statistics.scores import difference_span, score_span


class Scored(NamedTuple):
    """The scores of some candidates on the queries of one round."""

    names: Sequence[str]
    values: np.ndarray
    """[names × queries]; NaN is undefined."""
    clusters: Sequence[str]
    """The repository of each query."""

    def only(self, names: Sequence[str]) -> Scored:
        """Return the rows of these candidates, in this order."""
        places = [self.names.index(name) for name in names]
        return self._replace(names=list(names), values=self.values[places])


class Scale(NamedTuple):
    """What the scores are: their range, which way is better, and what counts once in a mean."""

    value_range: tuple[float, float] | None = (0.0, 1.0)
    higher_is_better: bool = True
    weight: Weight = "repository"

    @property
    def sign(self) -> float:
        """What turns a score into one that is better when higher."""
        return 1.0 if self.higher_is_better else -1.0


def means(scored: Scored, scale: Scale) -> dict[str, float]:
    """Return the mean of each candidate, each repository (or query) counting once; NaN where it has no value."""
    rows = zip(scored.names, scored.values, strict=True)
    return {name: weighted_mean(row, scored.clusters, weight=scale.weight) for name, row in rows}


def upper_bounds(
    scored: Scored, pairs: Sequence[tuple[str, str]], *, level: float, scale: Scale
) -> dict[tuple[str, str], float]:
    """Return for each pair (a, b) what a's advantage over b exceeds with at most this probability.

    An advantage is a difference of means, positive where a is better. Where the data say nothing, the bound is the
    largest difference that the measure allows.
    """
    if not pairs:
        return {}
    place = {name: row for row, name in enumerate(scored.names)}
    first, second = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    differences = scale.sign * (scored.values[first] - scored.values[second])
    span = difference_span(score_span(scored.values, scale.value_range))
    found = np.full(len(pairs), span.most)
    for group in weigh(differences, scored.clusters, span=span, settings=Settings(scale.weight, "t", 0, 0)):
        bound = np.where(group.samples.counts > 0, group.evidence.upper(level), span.most)
        found[group.rows] = np.minimum(np.nan_to_num(bound, nan=span.most, posinf=span.most), span.most)
    return dict(zip(pairs, found.tolist(), strict=True))
