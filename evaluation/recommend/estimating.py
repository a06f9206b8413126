"""What scores in the round and in the final say of everyone's true mean."""

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
    """The texts to index in the round, where there is one, and in the final: numbers from 0, which may be shared."""
    cost: tuple[float, ...]
    """Compared in order; less is cheaper."""
    family: str = ""
    """What it shares with the same chunker at other sizes."""
    size: float = 1.0
    """Of a chunk on average."""
    around: float = 1.0
    """The size of the chunks around the round's passages."""

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
    """How the race is run."""

    margin: float
    """A loss within this is none, in the measure's own unit."""
    scale: Scale = field(default_factory=Scale)
    without_rounds: int = 6
    """So many candidates meet on all text at once."""
    text_share: float = 0.395
    """The share of all candidates' texts that the race may index, unless two finalists need more."""
    wave: int = 2
    """So many are measured on all text at a time."""
    unlikely: float = 0.02
    """Where the best is a finalist but for this chance, no more are measured."""
    slack: float = 0.25
    """The share of the margin by which a cheaper one may risk more, where none risks less than the margin."""


class Queries(NamedTuple):
    """Which of the final's queries have a part in choosing the finalists, as masks."""

    choosing: np.ndarray
    asked: np.ndarray
    """Those of them that the round asks."""


class Believed(NamedTuple):
    """Estimates of the true means, higher being better, and draws of what they may be."""

    names: Sequence[str]
    found: Estimates
    draws: np.ndarray
    width: float
    """The range of a mean."""

    def losses(self, rivals: int) -> np.ndarray:
        """Return for everyone what none of the first so many is better by in 95 of 100 draws."""
        return _quantile(self.draws[:rivals].max(axis=0) - self.draws)

    def advantages(self) -> np.ndarray:
        """Return what everyone (rows) may be better by than everyone (columns), if it is unlike all others.

        Whoever is the best was so before anything was measured, so that its true mean is above its own one-sided bound
        in 5 of 100 cases, however many others there are. The one it is compared with was chosen for its mean, so that
        what is believed of that one is taken.
        """
        means, leads = self.draws.mean(axis=1), self.draws - self.draws.mean(axis=0)
        errors = np.diagonal(self.found.errors)[:, None] + np.square(leads.std(axis=1))
        above = self.found.values[:, None] + _ONE_SIDED * np.sqrt(errors) - means
        np.fill_diagonal(above, 0.0)
        return np.asarray(np.clip(above, 0.0, self.width))

    def better_by(self, name: str) -> np.ndarray:
        """Return what everyone may be better by than this one (95 %): the larger of what is drawn and its own bound."""
        row = list(self.names).index(name)
        return np.asarray(
            np.maximum(self.advantages()[:, row], np.minimum(_quantile(self.draws - self.draws[row]), self.width))
        )

    def risks(self, rivals: int) -> np.ndarray:
        """Return for everyone what none of the first so many is better by (95 %): the larger of the two."""
        return np.asarray(
            np.maximum(self.advantages()[:rivals].max(axis=0), np.minimum(self.losses(rivals), self.width))
        )


class Contest(NamedTuple):
    """All candidates, the rules, and which queries choose the finalists."""

    entrants: Mapping[str, Entrant]
    rules: Rules
    queries: Queries
    scouts: Sequence[str]

    def shapes(self, names: Iterable[str]) -> list[Shape]:
        """Return what is known of these beforehand."""
        return [self.entrants[name].shape for name in names]

    def higher(self, scored: Scored) -> Scored:
        """Return the scores, higher being better."""
        return scored._replace(values=self.rules.scale.sign * scored.values)

    def believed(self, scored: Scored | None, final: Scored, queries: np.ndarray, *, draws: int) -> Believed:
        """Return what the scores on these queries say of everyone's true mean, finalists first."""
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
        """Return the means; one without any value says nothing."""
        scale = self.rules.scale
        values = np.array(list(means(scored, scale).values()))
        asked = (~np.isnan(scored.values)).sum(axis=1)
        # Few queries may agree by chance: an unseen one may differ by half of the range.
        spread = variances(scored, scale) + np.square(width / (2 * np.maximum(asked, 1)))
        known = ~np.isnan(values + spread)
        middle = values[known].mean() if known.any() else 0.0
        return Estimates(np.where(known, values, middle), np.diag(np.where(known, spread, np.square(width))))

    def _expected(self, scored: Scored, final: Scored, asked: Scored, left: Sequence[str], width: float) -> Estimates:
        """Return what the means of those that have left may be on all text and with all queries that are asked.

        Their means among passages are moved by what all text is expected to change for them, and by what the other
        queries change for the finalists.
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

        Of scouts it is nothing, which tells nothing of others: their chunks are also those around the passages.
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
    """Return what 95 of 100 draws are not above, and at least 0."""
    return np.asarray(np.maximum(np.quantile(draws, 1 - SIGNIFICANT, axis=1), 0.0))
