"""The race: who is measured on all text, who is recommended, and what that risks. It knows scores and texts, no more.

A few scouts are measured on all text, and then everyone on passages, with most of the queries: what all text changes
for the scouts tells what it changes for others. Those that may be the best are then measured on all text too, a few at
a time, the likeliest first, until the texts that may be indexed are, or no other is likely. These finalists have two
means: that of the queries that had no part in choosing them is not flattered, and that of all queries decides.

Two things are said of those that are left. Who may be best is a matter of tests: if b is the truly best, its advantages
over all others are one family of comparisons in the final and another among passages, half of the error of 5 % for
each, so that b is excluded in 5 % at most. Who is recommended is a matter of belief (`beliefs`): in 95 of 100 draws of
all true means together, no candidate is better by more than its loss. The stated risk is that loss or, where it is
more, what b may be better by if it is unlike all others: its own one-sided bound, whatever its family and size say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from evaluation.recommend.beliefs import Estimates, believe
from evaluation.recommend.bounds import Pair, Scale, Scored, largest_difference, means, upper_bounds, variances
from evaluation.recommend.shapes import Shape
from evaluation.recommend.shifts import Shifts, expected_shifts
from evaluation.statistics import SIGNIFICANT

_LEAST_FINALISTS = 2
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

    @property
    def shape(self) -> Shape:
        """What is known of it before it is measured."""
        return Shape(self.family, self.size)


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
    wave: int = 3
    """So many are measured on all text at a time."""
    unlikely: float = 0.02
    """Where the best is a finalist but for this chance, no more are measured."""
    slack: float = 0.25
    """The share of the margin by which a cheaper one may risk more, where none risks less than the margin."""


class Left(NamedTuple):
    """A candidate that was not measured further."""

    rival: str
    """Who is better, or leads."""
    behind: float
    """By how much in the round's means."""


class Round(NamedTuple):
    """What happened in one round; the last one is the final."""

    scored: Scored
    means: Mapping[str, float]
    left: Mapping[str, Left]


class Belief(NamedTuple):
    """What is believed of a candidate, in the measure's own unit."""

    mean: float
    """Over all queries, without what the choice among many adds to it."""
    loss: float
    """What no candidate is better by, in 95 of 100 draws: from this it is chosen."""
    risk: float
    """What no candidate is better by (95 %), however unlike the others the best one is."""
    final_risk: float
    """What no finalist is better by (95 %)."""
    advantage: float
    """What it may be better by than the recommended one (95 %)."""


class Outcome(NamedTuple):
    """How the race ended."""

    rounds: tuple[Round, ...]
    recommended: str
    finalists: tuple[str, ...]
    """Best mean over all queries first: the first one is the leader."""
    may_be_best: tuple[str, ...]
    """Every candidate that no other is shown to be better than: finalists first, then those that left."""
    beliefs: Mapping[str, Belief]
    embedded: int
    """Distinct texts that were indexed."""
    grid: int
    """Distinct texts of all candidates on everything."""


Oracle = Callable[[int, Sequence[str]], Scored]
"""Number of a round and names → their scores; the final is the round after the last. Who fails has no row.

The round asks some of the final's queries, in the final's order.
"""


def race(
    entrants: Sequence[Entrant], measure: Oracle, rules: Rules, *, seen: np.ndarray, scouts: Sequence[str] = ()
) -> Outcome | None:
    """Run the race and return how it ended; None where nobody could be measured.

    ``seen`` says which of the final's queries the round asks. ``scouts`` are measured on all text from the start.
    """
    here = _Field({entrant.name: entrant for entrant in entrants}, rules, seen)
    texts = _Texts(entrants)
    last = len(entrants[0].texts) - 1
    tried = list(scouts) if last else list(here.entrants)
    texts.index(here.entrants[name].texts[-1] for name in tried)
    final = measure(last, tried)
    if not last:
        return _decide([_round(final, rules)], here, texts) if final.names else None
    texts.index(each.texts[0] for each in entrants)
    scored = measure(0, list(here.entrants))
    while wave := _next(scored, final, here, texts, tried):
        texts.index(here.entrants[name].texts[-1] for name in wave)
        tried += wave
        final = final.with_rows(measure(last, wave))
    return _decide([_round(scored, rules), _round(final, rules)], here, texts) if final.names else None


def _round(scored: Scored, rules: Rules) -> Round:
    return Round(scored, means(scored, rules.scale), {})


class _Believed(NamedTuple):
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

    def risks(self, rivals: int) -> np.ndarray:
        """Return for everyone what none of the first so many is better by (95 %): the larger of the two."""
        return np.asarray(
            np.maximum(self.advantages()[:rivals].max(axis=0), np.minimum(self.losses(rivals), self.width))
        )


class _Field(NamedTuple):
    """All candidates, the rules, and which queries the round asks."""

    entrants: Mapping[str, Entrant]
    rules: Rules
    seen: np.ndarray

    def shapes(self, names: Iterable[str]) -> list[Shape]:
        """Return what is known of these beforehand."""
        return [self.entrants[name].shape for name in names]

    def higher(self, scored: Scored) -> Scored:
        """Return the scores, higher being better."""
        return scored._replace(values=self.rules.scale.sign * scored.values)

    def believed(self, scored: Scored | None, final: Scored, queries: np.ndarray) -> _Believed:
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
        return _Believed(names, found, believe(found, self.shapes(names), width=width), width)

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
        shifts = self.shifts(scored, self.higher(final.on(self.seen)), width)
        rows = [names.index(name) for name in left]
        square = np.ix_(rows, rows)
        before, after = (means(each, scale) for each in (self.higher(final.on(self.seen)), asked))
        level = np.nan_to_num(np.array([after[name] - before[name] for name in final.names])).mean() if before else 0.0
        return Estimates(found.values[rows] + shifts.means[rows] + level, found.errors[square] + shifts.errors[square])

    def shifts(self, scored: Scored, final: Scored, width: float) -> Shifts:
        """Return how much better each candidate is on all text than among passages, on the round's queries."""
        both = [name for name in final.names if name in scored.names]
        rows = [list(scored.names).index(name) for name in both]
        after = final.values[[list(final.names).index(name) for name in both]]
        changes = Scored(both, after - scored.values[rows], scored.clusters)
        found = self._estimates(changes, width)
        shapes = self.shapes(scored.names)
        return expected_shifts(found.values, np.diagonal(found.errors), shapes, rows=rows, width=width)


def _joined(first: Estimates, second: Estimates) -> Estimates:
    count, more = len(first.values), len(second.values)
    errors = np.zeros((count + more, count + more))
    errors[:count, :count], errors[count:, count:] = first.errors, second.errors
    return Estimates(np.concatenate([first.values, second.values]), errors)


class _Texts:
    """Which texts have been indexed."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        numbers = [each.texts[-1] for each in entrants]
        grid = np.zeros(1 + max(int(each.max(initial=-1)) for each in numbers), dtype=bool)
        for each in numbers:
            grid[each] = True
        self.grid = int(grid.sum())
        self.indexed = np.zeros(len(grid), dtype=bool)

    def index(self, parts: Iterable[np.ndarray]) -> None:
        """Count these as indexed."""
        for numbers in parts:
            self.indexed[numbers] = True

    def afford(self, here: _Field, ranked: Iterable[str], *, least: int) -> list[str]:
        """Return the first few whose texts may be indexed, in this order, and at least so many.

        Cheaper ones may take the place of one that cannot be afforded.
        """
        planned = self.indexed.copy()
        taken: list[str] = []
        for name in ranked:
            numbers = here.entrants[name].texts[-1]
            more = int(planned.sum()) + len(np.unique(numbers[~planned[numbers]]))
            if len(taken) < here.rules.wave and (len(taken) < least or more <= here.rules.text_share * self.grid):
                taken.append(name)
                planned[numbers] = True
        return taken


def _next(scored: Scored, final: Scored, here: _Field, texts: _Texts, tried: Sequence[str]) -> list[str]:
    """Return who is measured on all text next: those that are likeliest to be the best, as far as can be afforded.

    The queries that the round does not ask have no part in this.
    """
    if all(name in tried for name in scored.names):
        return []
    names, _, draws, _ = here.believed(scored, final, here.seen)
    chances = dict(zip(names, np.bincount(draws.argmax(axis=0), minlength=len(names)) / draws.shape[1], strict=True))
    mean = dict(zip(names, draws.mean(axis=1), strict=True))
    able = sorted((name for name in names if name not in tried), key=lambda name: (-chances[name], -mean[name], name))
    least = max(0, _LEAST_FINALISTS - len(final.names))
    if not least and sum(chances[name] for name in able) < here.rules.unlikely:
        return []
    return texts.afford(here, able, least=least)


def _ranked(found: Mapping[str, float], here: _Field) -> list[str]:
    """Return the names, best mean first; of equals the cheaper; those without any value last."""

    def place(name: str) -> tuple[float, tuple[float, ...], str]:
        mean = here.rules.scale.sign * found[name]
        return (math.inf if math.isnan(mean) else -mean, here.entrants[name].cost, name)

    return sorted(found, key=place)


def _decide(rounds: Sequence[Round], here: _Field, texts: _Texts) -> Outcome:
    """Choose among the finalists that may be best: the cheapest of those that risk no more than the margin.

    Where all risk more, it is the cheapest of those that risk about the least. The cheapest of all that may be best
    would be a guess paid for by quality.
    """
    final, rules = rounds[-1], here.rules
    ranked = _ranked(final.means, here)
    scored = rounds[0].scored if len(rounds) > 1 else None
    worse = _worse(scored, final.scored, ranked, here)
    believed = here.believed(scored, final.scored, np.ones(len(final.scored.clusters), dtype=bool))
    names, draws = believed.names, believed.draws
    best = [name for name in [*ranked, *names[len(ranked) :]] if name not in worse]
    met = [name for name in ranked if name in best]
    losses = dict(zip(names, believed.losses(len(names)), strict=True))
    limit = max(rules.margin, min(losses[name] for name in met) + rules.slack * rules.margin)
    good = [name for name in met if losses[name] <= limit]
    recommended = min(good, key=lambda name: (here.entrants[name].cost, ranked.index(name)))
    found = zip(
        rules.scale.sign * draws.mean(axis=1),
        losses.values(),
        believed.risks(len(names)),
        believed.risks(len(ranked)),
        believed.advantages()[:, list(names).index(recommended)],
        strict=True,
    )
    beliefs = {name: Belief(*map(float, each)) for name, each in zip(names, found, strict=True)}
    done = rounds[:-1] and [rounds[0]._replace(left=_left(rounds[0], ranked, worse, here))]
    embedded = int(texts.indexed.sum())
    return Outcome((*done, final), recommended, tuple(ranked), tuple(best), beliefs, embedded, texts.grid)


def _quantile(draws: np.ndarray) -> np.ndarray:
    """Return what 95 of 100 draws are not above, and at least 0."""
    return np.asarray(np.maximum(np.quantile(draws, 1 - SIGNIFICANT, axis=1), 0.0))


def _worse(scored: Scored | None, final: Scored, ranked: Sequence[str], here: _Field) -> dict[str, str]:
    """Return those to which a finalist is shown to be superior, with the one of which this is clearest."""
    scale, rivals = here.rules.scale, len(here.entrants) - 1
    level = SIGNIFICANT / 2 if scored else SIGNIFICANT
    pairs = [(name, other) for place, name in enumerate(ranked) for other in ranked[:place]]
    bounds = upper_bounds(final, pairs, level=level, rivals=rivals, scale=scale)
    if scored:
        bounds |= _round_bounds(scored, final, level, here)
    clear = sorted((bound, pair) for pair, bound in bounds.items() if bound < 0)
    return {name: rival for _, (name, rival) in reversed(clear)}


def _round_bounds(scored: Scored, final: Scored, level: float, here: _Field) -> dict[Pair, float]:
    """Return how much better those that have left may be on all text than finalists, from the round's passages.

    The first may lose less than the second does when all text is searched: what is expected of it, and two standard
    deviations more.
    """
    names = list(scored.names)
    width = largest_difference(scored, here.rules.scale)
    both = [name for name in final.names if name in names]
    pairs = [(name, rival) for name in names if name not in final.names for rival in both]
    found = upper_bounds(scored, pairs, level=level, rivals=len(here.entrants) - 1, scale=here.rules.scale)
    shifts = here.shifts(here.higher(scored), here.higher(final.on(here.seen)), width)
    deviation = np.sqrt(np.diagonal(shifts.errors))

    def bound(first: str, second: str) -> float:
        one, other = names.index(first), names.index(second)
        more = shifts.means[one] + 2 * deviation[one] - shifts.means[other]
        return float(min(found[first, second] + max(0.0, more), width))

    return {pair: bound(*pair) for pair in pairs}


def _left(scored: Round, ranked: Sequence[str], worse: Mapping[str, str], here: _Field) -> dict[str, Left]:
    """Return who was measured in the round alone, and behind whom."""
    leader = next((name for name in ranked if name in scored.means), "")
    rivals = {name: worse.get(name, leader) for name in scored.means if name not in ranked}
    sign, found = here.rules.scale.sign, scored.means
    return {name: Left(rival, sign * (found.get(rival, math.nan) - found[name])) for name, rival in rivals.items()}
