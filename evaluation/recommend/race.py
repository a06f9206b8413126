"""The race: who leaves when and why, who is recommended, and what that risks. It knows scores and costs, nothing else.

Rounds measure the candidates on growing parts of the data. After each, those that are shown not to be the best leave,
and then those that are furthest behind, until what is left can be afforded. The finalists meet on queries that had no
part in any round. The error of 5 % is spread: half over the rounds, half for the final.

Why the risk covers every candidate, however the recommended one was chosen: let b be the truly best. In each round the
bounds on b's advantage over the others hold together, because the level is divided by their number, and so they hold in
all rounds together. The recommended one was measured in every round, and b in some last one, whose bound on b's
advantage over it therefore holds too. The risk is the largest such bound over all candidates, so it is at least b's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluation.recommend.bounds import Scale, Scored, means, upper_bounds
from evaluation.recommend.smoothing import steadied
from evaluation.statistics import SIGNIFICANT

_LEADERS = 3
"""Those with the best means, with which everyone is compared in a round."""
_LEAST_LEFT, _LEAST_FINALISTS = 8, 3
_NEXT_ROUND = 0.3
"""What the next round may take of the texts that are left to spend; the final has the rest."""


class Entrant(NamedTuple):
    """A candidate as the race sees it."""

    name: str
    texts: int
    """Texts to index if it is measured on everything."""
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
    finalists: int = 6
    text_share: float = 0.34
    """The share of all candidates' texts that the race may index, unless three finalists need more."""
    slack: float = 0.25
    """Where no risk is within the margin: the share of it by which a cheaper one's risk may be above the least."""


class Left(NamedTuple):
    """Why a candidate left."""

    shown: bool
    """Whether it was shown not to be the best; otherwise it was too far behind to be afforded."""
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
    """Best mean first: the first one is the leader."""
    may_be_best: tuple[str, ...]
    """Finalists that no other is shown to be better than, best mean first."""
    risks: Mapping[str, float]
    """Finalist → what no candidate is better by (95 %)."""
    final_risks: Mapping[str, float]
    """Finalist → what no finalist is better by (95 %)."""
    riskiest: str
    """The candidate that sets the recommended one's risk."""


Oracle = Callable[[int, Sequence[str]], Scored]
"""Number of a round and names → their scores; the final is the round after the last. Who fails has no row."""


def race(entrants: Sequence[Entrant], shares: Sequence[float], measure: Oracle, rules: Rules) -> Outcome | None:
    """Run the race and return how it ended; None where nobody could be measured.

    ``shares`` says which part of the texts each round measures on; a later round's part holds those before it.
    """
    field = _Field({entrant.name: entrant for entrant in entrants}, len(shares), rules)
    alive = list(field.entrants)
    rounds: list[Round] = []
    spent = before = 0.0
    for number, share in enumerate(shares):
        spent += (share - before) * field.part_of_texts(alive)
        before = share
        scored = measure(number, alive)
        rounds.append(_round(scored, field, _room(shares, number, rules.text_share - spent, rules)))
        alive = [name for name in scored.names if name not in rounds[-1].left]
    scored = measure(len(shares), alive)
    if not scored.names:
        return None
    rounds.append(Round(scored, means(scored, rules.scale), {}))
    return _decide(rounds, field)


class _Field(NamedTuple):
    """All candidates, the number of rounds before the final, and the rules."""

    entrants: Mapping[str, Entrant]
    rounds: int
    rules: Rules

    @property
    def level(self) -> float:
        """The level of one comparison in a round: half of the error, over rounds and rivals."""
        return _level(len(self.entrants), self.rounds)

    def part_of_texts(self, names: Sequence[str]) -> float:
        """Return the share of these candidates in the texts of all."""
        every = sum(entrant.texts for entrant in self.entrants.values())
        return sum(self.entrants[name].texts for name in names) / max(every, 1)


def _level(candidates: int, rounds: int) -> float:
    return SIGNIFICANT / 2 / max(rounds, 1) / max(candidates - 1, 1)


class _Room(NamedTuple):
    """How many may stay, and what measuring them further may cost."""

    texts: float
    """As a share of all texts."""
    part: float
    """The share of a candidate's texts that the next round adds."""
    least: int
    """So many stay in any case."""
    most: float


def _room(shares: Sequence[float], number: int, left: float, rules: Rules) -> _Room:
    """Return who may stay after a round, with so much left to spend."""
    if number + 1 == len(shares):
        return _Room(left, 1.0 - shares[number], _LEAST_FINALISTS, rules.finalists)
    return _Room(left * _NEXT_ROUND, shares[number + 1] - shares[number], _LEAST_LEFT, math.inf)


def _round(scored: Scored, field: _Field, room: _Room) -> Round:
    """Say who leaves after a round: those that are shown not to be the best, then those that cannot be afforded."""
    rules = field.rules
    found = means(scored, rules.scale)
    shapes = [field.entrants[name] for name in scored.names]
    steady = steadied(scored, found, families=[each.family for each in shapes], sizes=[each.size for each in shapes])
    ranked = _ranked(steady, field)
    leaders = ranked[:_LEADERS]
    pairs = [(name, rival) for name in ranked for rival in leaders if name != rival]
    bounds = upper_bounds(scored, pairs, level=field.level, scale=rules.scale)
    left: dict[str, Left] = {}
    used, stay, floor = 0.0, 0, -math.inf
    for name in ranked:
        beaten = [(bounds[name, rival], rival) for rival in leaders if name != rival and bounds[name, rival] < 0]
        cost = room.part * field.part_of_texts([name])
        if beaten:
            rival = min(beaten)[1]
            left[name] = Left(shown=True, rival=rival, behind=rules.scale.sign * (found[rival] - found[name]))
        elif stay >= room.least and (
            stay >= room.most or used + cost > room.texts or rules.scale.sign * steady[name] < floor
        ):
            behind = rules.scale.sign * (found[ranked[0]] - found[name])
            left[name] = Left(shown=False, rival=ranked[0], behind=behind)
            # Cheaper ones may take the place of one that cannot be afforded, unless they are much further behind.
            floor = max(floor, rules.scale.sign * steady[name] - rules.margin)
        else:
            used, stay = used + cost, stay + 1
    return Round(scored, found, left)


def _ranked(found: Mapping[str, float], field: _Field) -> list[str]:
    """Return the names, best mean first; of equals the cheaper; those without any value last."""

    def place(name: str) -> tuple[float, tuple[float, ...], str]:
        mean = field.rules.scale.sign * found[name]
        return (math.inf if math.isnan(mean) else -mean, field.entrants[name].cost, name)

    return sorted(found, key=place)


def _decide(rounds: Sequence[Round], field: _Field) -> Outcome:
    """Choose among the finalists.

    Of those that may be best and whose risk is within the margin, the cheapest. Where no risk is, one whose risk is the
    least, or hardly more: the cheapest of all that may be best would be a guess paid for by quality.
    """
    final, rules = rounds[-1], field.rules
    names = list(final.scored.names)
    pairs = [(a, b) for a in names for b in names if a != b]
    # Who the finalists are does not depend on the final's queries, so only they have to be corrected for.
    bounds = upper_bounds(final.scored, pairs, level=_level(len(names), 1), scale=rules.scale)
    ranked = _ranked(final.means, field)
    may_be_best = [name for name in ranked if all(bounds[name, other] >= 0 for other in names if other != name)]
    risks = {name: max([0.0, *(bounds[other, name] for other in names if other != name)]) for name in names}
    least = min(risks[name] for name in may_be_best)
    bearable = max(rules.margin, least + rules.slack * rules.margin)
    within = [name for name in may_be_best if risks[name] <= bearable]
    recommended = min(within, key=lambda name: (field.entrants[name].cost, ranked.index(name)))
    earlier = _earlier(rounds, field)
    total = {name: max([risks[name], *earlier[name].values()]) for name in names}
    against = {other: bounds[other, recommended] for other in names if other != recommended} | earlier[recommended]
    riskiest = max(against, key=lambda name: against[name], default=recommended)
    return Outcome(tuple(rounds), recommended, tuple(ranked), tuple(may_be_best), total, risks, riskiest)


def _earlier(rounds: Sequence[Round], field: _Field) -> dict[str, dict[str, float]]:
    """Return finalist → candidate that left → what it is better by at most, as of the round in which it left."""
    finalists = rounds[-1].scored.names
    found: dict[str, dict[str, float]] = {name: {} for name in finalists}
    for each in rounds[:-1]:
        pairs = [(gone, name) for gone in each.left for name in finalists]
        for (gone, name), bound in upper_bounds(each.scored, pairs, level=field.level, scale=field.rules.scale).items():
            found[name][gone] = bound
    return found
