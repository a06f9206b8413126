"""Estimates of every candidate's true mean from the scores in the round and in the final."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from evaluation.recommend.beliefs import Estimates, believe
from evaluation.recommend.bounds import Scale, Scored, largest_difference, means, variances
from evaluation.recommend.shapes import Shape
from evaluation.recommend.shifts import Shifts, expected_shifts
from evaluation.statistics import SIGNIFICANT

_ROUNDING = 1e-9
_ONE_SIDED = NormalDist().inv_cdf(1 - SIGNIFICANT / 2)
"""Half of the error is for the round, half for the final."""


class Entrant(NamedTuple):
    """A candidate as the race sees it."""

    name: str
    texts: Sequence[np.ndarray]
    """The texts to index in the round, if there is one, and in the final: numbers from 0, which may be shared."""
    cost: tuple[float, ...]
    """Compared lexicographically; less is cheaper."""
    family: str = ""
    """Shared with the same chunker at other sizes."""
    size: float = 1.0
    """Mean size of a chunk."""
    around: float = 1.0
    """Size of the chunks around the round's passages."""

    @property
    def all_text(self) -> np.ndarray:
        """The texts to index in the final."""
        return self.texts[-1]

    @property
    def shape(self) -> Shape:
        """What is known of it before it is measured."""
        return Shape(self.family, self.size, self.around)


@dataclass(frozen=True)
class Rules:
    """The parameters of the race."""

    margin: float
    """A smaller loss counts as none, in the measure's own unit."""
    scale: Scale = field(default_factory=Scale)
    without_rounds: int = 6
    """This many candidates or fewer meet on all text at once."""
    text_share: float = 0.395
    """Share of all candidates' texts that the race may index, unless two finalists need more."""
    wave: int = 2
    """Candidates measured on all text at a time."""
    unlikely: float = 0.02
    """Measuring stops when the probability that the best is not a finalist is below this."""
    slack: float = 0.25
    """Share of the margin by which a cheaper candidate may risk more, if none risks less than the margin."""


class Queries(NamedTuple):
    """Which of the final's queries take part in choosing the finalists, as masks."""

    choosing: np.ndarray
    asked: np.ndarray
    """Those that the round asks."""


class Believed(NamedTuple):
    """Estimates of the true means, higher being better, and posterior draws of them."""

    names: Sequence[str]
    found: Estimates
    draws: np.ndarray
    width: float
    """The range of a mean."""

    def losses(self, rivals: int) -> np.ndarray:
        """Return for each candidate the amount by which none of the first ``rivals`` is better in 95 of 100 draws."""
        return _quantile(self.draws[:rivals].max(axis=0) - self.draws)

    def advantages(self) -> np.ndarray:
        """Return the possible advantage of each candidate (rows) over each other (columns), if it is unlike all others.

        Whichever is the best was so before anything was measured, so its true mean is above its own one-sided bound in
        5 of 100 cases, however many others there are. The one it is compared with was chosen for its mean, so its
        posterior is used instead.
        """
        means, leads = self.draws.mean(axis=1), self.draws - self.draws.mean(axis=0)
        errors = np.diagonal(self.found.errors)[:, None] + np.square(leads.std(axis=1))
        above = self.found.values[:, None] + _ONE_SIDED * np.sqrt(errors) - means
        np.fill_diagonal(above, 0.0)
        return np.asarray(np.clip(above, 0.0, self.width))

    def better_by(self, name: str) -> np.ndarray:
        """Return the possible advantage of each candidate over this one (95 %), by draws or its own bound if larger."""
        row = list(self.names).index(name)
        return np.asarray(
            np.maximum(self.advantages()[:, row], np.minimum(_quantile(self.draws - self.draws[row]), self.width))
        )

    def risks(self, rivals: int) -> np.ndarray:
        """Return for each candidate the amount by which none of the first ``rivals`` is better (95 %), as above."""
        return np.asarray(
            np.maximum(self.advantages()[:rivals].max(axis=0), np.minimum(self.losses(rivals), self.width))
        )


class Contest(NamedTuple):
    """All candidates, the rules, and the queries that choose the finalists."""

    entrants: Mapping[str, Entrant]
    rules: Rules
    queries: Queries
    scouts: Sequence[str]

    def shapes(self, names: Iterable[str]) -> list[Shape]:
        """Return the prior shapes of these candidates."""
        return [self.entrants[name].shape for name in names]

    def higher(self, scored: Scored) -> Scored:
        """Return the scores, oriented so that higher is better."""
        return scored._replace(values=self.rules.scale.sign * scored.values)

    def believed(self, scored: Scored | None, final: Scored, queries: np.ndarray, *, draws: int) -> Believed:
        """Return the posterior of every candidate's true mean from the scores on these queries, finalists first."""
        asked = self.higher(final.on(queries))
        width = largest_difference(final, self.rules.scale) if final.names else 1.0
        found = self._estimates(asked, width)
        left = [name for name in (scored.names if scored else ()) if name not in final.names]
        names = [*final.names, *left]
        if scored and left:
            found = _joined(found, self._expected(self.higher(scored), final, asked, left, width))
        floor = np.square(width) * _ROUNDING
        errors = found.errors + floor * np.eye(len(names))
        found = Estimates(found.values, errors)
        return Believed(names, found, believe(found, self.shapes(names), width=width, draws=draws), width)

    def _estimates(self, scored: Scored, width: float) -> Estimates:
        """Return the means; a candidate without any value is uninformative."""
        scale = self.rules.scale
        values = np.array(list(means(scored, scale).values()))
        asked = (~np.isnan(scored.values)).sum(axis=1)
        # A few queries may agree by chance: an unseen one may differ by half of the range.
        spread = variances(scored, scale) + np.square(width / (2 * np.maximum(asked, 1)))
        known = ~np.isnan(values + spread)
        middle = values[known].mean() if known.any() else 0.0
        return Estimates(np.where(known, values, middle), np.diag(np.where(known, spread, np.square(width))))

    def _expected(self, scored: Scored, final: Scored, asked: Scored, left: Sequence[str], width: float) -> Estimates:
        """Return the expected means, on all text and all queries asked, of the candidates that have left.

        Their means among passages are shifted by the expected effect of all text, and by the effect of the other
        queries on the finalists.
        """
        scale = self.rules.scale
        found, names = self._estimates(scored, width), list(scored.names)
        shifts = self.shifts(scored, self.higher(final.on(self.queries.asked)), width)
        rows = [names.index(name) for name in left]
        square = np.ix_(rows, rows)
        before, after = (means(each, scale) for each in (self.higher(final.on(self.queries.asked)), asked))
        level = np.nan_to_num(np.array([after[name] - before[name] for name in final.names])).mean() if before else 0.0
        return Estimates(found.values[rows] + shifts.means[rows] + level, found.errors[square] + shifts.errors[square])

    def shifts(self, scored: Scored, final: Scored, width: float) -> Shifts:
        """Return how much better each candidate is on all text than among passages, on the round's queries.

        For scouts it is zero, which is uninformative about others: their chunks are also those around the passages.
        """
        both = [name for name in final.names if name in scored.names and name not in self.scouts]
        rows = [list(scored.names).index(name) for name in both]
        after = final.values[[list(final.names).index(name) for name in both]]
        changes = Scored(both, after - scored.values[rows], scored.clusters)
        found = self._estimates(changes, width)
        shapes = self.shapes(scored.names)
        shifts = expected_shifts(found.values, np.diagonal(found.errors), shapes, rows=rows, width=width)
        exact = np.array([name in self.scouts for name in scored.names])
        return Shifts(np.where(exact, 0.0, shifts.means), np.where(exact[:, None] | exact, 0.0, shifts.errors))


def _joined(first: Estimates, second: Estimates) -> Estimates:
    count, more = len(first.values), len(second.values)
    errors = np.zeros((count + more, count + more))
    errors[:count, :count], errors[count:, count:] = first.errors, second.errors
    return Estimates(np.concatenate([first.values, second.values]), errors)


def _quantile(draws: np.ndarray) -> np.ndarray:
    """Return the value that 95 of 100 draws do not exceed, at least 0."""
    return np.asarray(np.maximum(np.quantile(draws, 1 - SIGNIFICANT, axis=1), 0.0))
