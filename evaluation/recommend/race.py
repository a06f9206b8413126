"""The race: who leaves when and why, who is recommended, and what that risks. It knows scores and texts, nothing else.

Rounds measure the candidates on growing parts of the text, with most of the queries. After each, those that are shown
to be worse leave, and then those that are furthest behind, until what is left can be afforded. The finalists meet on
all text: the queries that no round asked give means that are not flattered, and all queries together decide. A few
scouts are measured on all text from the start: what that changes for them tells what it changes for others.

Why the risk covers every candidate, however the recommended one was chosen: let b be the truly best. Before any data
are seen, b's advantages over all others are one family of comparisons in the final, on all queries, and another in the
rounds; half of the error of 5 % is for each. So the bounds on b's advantage hold together, over whomever and in
whichever round b was measured last. The risk is the largest bound of those that may be b, so it is at least b's.
A bound from a round is about its passages; what all text would change is learned from those measured on both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from evaluation.recommend.bounds import Pair, Scale, Scored, largest_difference, means, upper_bounds
from evaluation.recommend.shifts import Shape, Shift, expected_shifts
from evaluation.recommend.smoothing import noise_of, steadied
from evaluation.statistics import SIGNIFICANT

_LEADERS = 3
"""Those with the best means, with which everyone is compared in a round."""
_LEAST_LEFT, _LEAST_FINALISTS = 8, 2


class Entrant(NamedTuple):
    """A candidate as the race sees it."""

    name: str
    texts: Sequence[np.ndarray]
    """The texts to index in each round, and in the final, as numbers from 0 that candidates may share."""
    cost: tuple[float, ...]
    """Compared in order; less is cheaper."""
    family: str = ""
    """What it shares with the same chunker at other sizes."""
    size: float = 1.0
    """Of a chunk on average."""


@dataclass(frozen=True)
class Rules:
    """How the race is run."""

    margin: float
    """A loss within this is none, in the measure's own unit."""
    scale: Scale = field(default_factory=Scale)
    finalists: int = 12
    """At most so many, beside those that were measured on all text before."""
    without_rounds: int = 6
    """So many candidates meet on all text at once."""
    rounds_share: float = 0.19
    """The share of all candidates' texts that the rounds may index, unless eight candidates need more."""
    text_share: float = 0.395
    """The share that the race may index, unless two finalists need more."""
    slack: float = 0.25
    """The share of the margin by which a cheaper one's mean may be below the best."""


class Left(NamedTuple):
    """A candidate that was not measured further."""

    rival: str
    """Who is better, or led."""
    behind: float
    """By how much in this round's means."""


class Round(NamedTuple):
    """What happened in one round; the last one is the final."""

    scored: Scored
    means: Mapping[str, float]
    left: Mapping[str, Left]


class Outcome(NamedTuple):
    """How the race ended."""

    rounds: tuple[Round, ...]
    recommended: str
    finalists: tuple[str, ...]
    """Best mean over all queries first: the first one is the leader."""
    may_be_best: tuple[str, ...]
    """Every candidate that no other is shown to be better than: finalists first, then those that left."""
    risks: Mapping[str, float]
    """Finalist → what no candidate is better by (95 %)."""
    final_risks: Mapping[str, float]
    """Finalist → what no finalist is better by (95 %)."""
    advantages: Mapping[str, float]
    """Candidate → what it may be better by than the recommended one."""
    embedded: int
    """Distinct texts that were indexed."""
    grid: int
    """Distinct texts of all candidates on everything."""


Oracle = Callable[[int, Sequence[str]], Scored]
"""Number of a round and names → their scores; the final is the round after the last. Who fails has no row.

Rounds ask some of the final's queries, in the final's order.
"""


def race(
    entrants: Sequence[Entrant], measure: Oracle, rules: Rules, *, seen: np.ndarray, scouts: Sequence[str] = ()
) -> Outcome | None:
    """Run the race and return how it ended; None where nobody could be measured.

    ``seen`` says which of the final's queries the rounds ask. ``scouts`` are measured on all text from the start.
    """
    here = _Field({entrant.name: entrant for entrant in entrants}, len(entrants[0].texts) - 1, rules, seen)
    texts = _Texts(entrants)
    alive = list(here.entrants)
    done: list[Round] = []
    texts.index(here.entrants[name].texts[-1] for name in scouts)
    final = measure(here.rounds, scouts)
    for number in range(here.rounds):
        texts.index(here.entrants[name].texts[number] for name in alive)
        scored = measure(number, alive)
        alive, left = _step(number, scored, final, here, texts)
        done.append(Round(scored, means(scored, rules.scale), left))
    texts.index(here.entrants[name].texts[-1] for name in alive)
    final = final.with_rows(measure(here.rounds, [name for name in alive if name not in scouts]))
    if not final.names:
        return None
    done.append(Round(final, means(final, rules.scale), {}))
    return _decide(done, here, texts)


class _Field(NamedTuple):
    """All candidates, the number of rounds before the final, the rules, and which queries the rounds ask."""

    entrants: Mapping[str, Entrant]
    rounds: int
    rules: Rules
    seen: np.ndarray

    def final_bounds(self, scored: Scored, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """Return how much better the first of each pair may be than the second, from all text."""
        level = SIGNIFICANT / 2 if self.rounds else SIGNIFICANT
        return upper_bounds(scored, pairs, level=level, rivals=len(self.entrants) - 1, scale=self.rules.scale)

    def round_bounds(self, scored: Scored, final: Scored, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """Return how much better the first of each pair may be on all text, from a round's passages.

        The first may lose less than the second does when all text is searched: what is expected of it, and two standard
        deviations more.
        """
        rivals = (len(self.entrants) - 1) * self.rounds
        found = upper_bounds(scored, pairs, level=SIGNIFICANT / 2, rivals=rivals, scale=self.rules.scale)
        shifts, most = self.shifts(scored, final), largest_difference(scored, self.rules.scale)

        def bound(first: str, second: str) -> float:
            more = shifts[first].mean + 2 * shifts[first].error - shifts[second].mean
            return min(found[first, second] + max(0.0, more), most)

        return {pair: bound(*pair) for pair in pairs}

    def shifts(self, scored: Scored, final: Scored) -> dict[str, Shift]:
        """Return how much better each candidate is on all text than on a round's passages, on the round's queries."""
        scale, both = self.rules.scale, [name for name in final.names if name in scored.names]
        after, before = final.on(self.seen), scored
        changes = scale.sign * np.array(
            [after.values[after.names.index(name)] - before.values[before.names.index(name)] for name in both]
        ).reshape(len(both), len(scored.clusters))
        known = means(Scored(both, changes, scored.clusters), scale)
        shapes = {name: Shape(each.family, each.size) for name, each in self.entrants.items()}
        width = largest_difference(scored, scale)
        return expected_shifts(known, noise_of(changes), shapes, width=width)


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

    def afford(
        self, here: _Field, ranked: Iterable[str], number: int, *, until: float, least: int = 0, most: float = math.inf
    ) -> list[str]:
        """Return those that a round can be paid for, in this order, until a share of all texts is indexed.

        Cheaper ones may take the place of one that cannot be afforded.
        """
        planned = self.indexed.copy()
        taken: list[str] = []
        for name in ranked:
            numbers = here.entrants[name].texts[number]
            more = int(planned.sum()) + len(np.unique(numbers[~planned[numbers]]))
            if len(taken) < most and (len(taken) < least or more <= until * self.grid):
                taken.append(name)
                planned[numbers] = True
        return taken


def _step(number: int, scored: Scored, final: Scored, here: _Field, texts: _Texts) -> tuple[list[str], dict[str, Left]]:
    """Return who stays after a round, and who leaves: those that are shown to be worse, then those furthest behind.

    Those that are measured on all text already stay.
    """
    rules = here.rules
    ranked = _ranked(_expected(scored, final, here), here)
    leaders = ranked[:_LEADERS]
    pairs = [(name, rival) for name in ranked for rival in leaders if name != rival]
    worse = sorted((bound, pair) for pair, bound in here.round_bounds(scored, final, pairs).items() if bound < 0)
    beaten = {name: rival for _, (name, rival) in reversed(worse)}
    able = [name for name in ranked if name not in beaten and name not in final.names]
    if number + 1 < here.rounds:
        afforded = texts.afford(here, able, number + 1, until=rules.rounds_share, least=_LEAST_LEFT)
    else:
        afforded = texts.afford(here, able, -1, until=rules.text_share, least=_LEAST_FINALISTS, most=rules.finalists)
    stays = [*(name for name in ranked if name in final.names), *afforded]
    found, sign = means(scored, rules.scale), rules.scale.sign
    rivals = {name: beaten.get(name, ranked[0]) for name in ranked if name not in stays}
    return stays, {name: Left(rival, sign * (found[rival] - found[name])) for name, rival in rivals.items()}


def _expected(scored: Scored, final: Scored, here: _Field) -> dict[str, float]:
    """Return what each candidate's mean may be on all text.

    Means are drawn towards what family and size lead to expect, and moved by what all text is known to change.
    """
    shapes, scale = [here.entrants[name] for name in scored.names], here.rules.scale
    families, sizes = [each.family for each in shapes], [each.size for each in shapes]
    steady = steadied(scored, means(scored, scale), families=families, sizes=sizes)
    shifts = here.shifts(scored, final)
    moved = {each.name: steady[each.name] + scale.sign * shifts[each.name].mean for each in shapes}
    known = means(final.on(here.seen), scale)
    return {name: known.get(name, mean) for name, mean in moved.items()}


def _ranked(found: Mapping[str, float], here: _Field) -> list[str]:
    """Return the names, best mean first; of equals the cheaper; those without any value last."""

    def place(name: str) -> tuple[float, tuple[float, ...], str]:
        mean = here.rules.scale.sign * found[name]
        return (math.inf if math.isnan(mean) else -mean, here.entrants[name].cost, name)

    return sorted(found, key=place)


def _decide(rounds: Sequence[Round], here: _Field, texts: _Texts) -> Outcome:
    """Choose among the finalists: the cheapest of those as good as the leader.

    As good is one that may be best and that no finalist is better than by more than the margin, or whose mean is hardly
    below the leader's. The cheapest of all that may be best would be a guess paid for by quality.
    """
    final, rules = rounds[-1], here.rules
    ranked = _ranked(final.means, here)
    bounds = here.final_bounds(final.scored, [(a, b) for a in ranked for b in ranked if a != b])
    for each in rounds[:-1]:
        bounds |= here.round_bounds(each.scored, final.scored, [(gone, name) for gone in each.left for name in ranked])
    best = [name for name in _everyone(rounds, ranked) if all(bounds.get((name, other), 0) >= 0 for other in ranked)]
    risks = {name: max([0.0, *(bounds[other, name] for other in best if other != name)]) for name in ranked}
    met = [name for name in ranked if name in best]
    final_risks = {name: max([0.0, *(bounds[other, name] for other in met if other != name)]) for name in ranked}
    floor = rules.scale.sign * final.means[met[0]] - rules.slack * rules.margin
    good = [name for name in met if final_risks[name] <= rules.margin or rules.scale.sign * final.means[name] >= floor]
    recommended = min(good or met[:1], key=lambda name: (here.entrants[name].cost, ranked.index(name)))
    advantages = {name: bound for (name, other), bound in bounds.items() if other == recommended}
    embedded = int(texts.indexed.sum())
    return Outcome(
        tuple(rounds), recommended, tuple(ranked), tuple(best), risks, final_risks, advantages, embedded, texts.grid
    )


def _everyone(rounds: Sequence[Round], finalists: Sequence[str]) -> list[str]:
    """Return all who were measured: the finalists, then those who left, the last to leave first."""
    return [*finalists, *(name for each in reversed(rounds[:-1]) for name in each.left)]
