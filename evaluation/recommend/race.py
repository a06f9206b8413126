"""The race: which candidates are measured on all text, which is recommended, and at what risk, from scores and texts.

A few scouts are measured on all text, and then every candidate on passages, surrounded by the scouts' chunks: the
effect of all text is small then, and is estimated from those measured on both. Those that may be the best are measured
on all text too, a few at a time, until the texts that may be indexed are used up, or no other is likely to be best.
These finalists have two means: that of the queries that had no part in choosing them is not flattered, and that of all
queries decides.

Three statements are made about those that are left. Which are shown to be worse is decided by tests: if b is the truly
best, its advantages over all others are one family of comparisons in the final and another among passages, with half of
the error of 5 % for each, so that b is excluded in at most 5 % of cases. Which is recommended is decided by posterior
draws (`beliefs`), among those whose mean is within the margin of the leader's: in 95 of 100 draws of all true means
together, no candidate is better by more than its loss. The stated risk is that loss or, if larger, the amount by which
b may be better if it is unlike all others: its own one-sided bound, whatever its family and size suggest.

Set and risk agree: a candidate that may be best is not shown to be worse by a test, and is better than the recommended
one in one draw of twenty or by its own bound. One that scored the same on every query may be best whatever the draws
say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.recommend.bounds import Pair, Scored, largest_difference, means, upper_bounds
from evaluation.recommend.estimating import Contest, Entrant, Queries, Rules
from evaluation.recommend.indexed import IndexedTexts
from evaluation.statistics import SIGNIFICANT

_LEAST_FINALISTS = 2
_DRAWS, _FEW_DRAWS = 4000, 1000
"""Of all true means together: to state the risk, and to see which may be the best."""
_RIVALS = 4
"""Worse candidates are identified by comparison with this many first finalists."""


class Left(NamedTuple):
    """A candidate that was not measured further."""

    rival: str
    """Which is better, or leads."""
    behind: float
    """The difference of the round's means."""


class Round(NamedTuple):
    """The outcome of one round; the last one is the final."""

    scored: Scored
    means: Mapping[str, float]
    left: Mapping[str, Left]


class Belief(NamedTuple):
    """The posterior of a candidate, in the measure's own unit."""

    mean: float
    """Over all queries, without the bias of being chosen among many."""
    loss: float
    """The amount by which no candidate is better, in 95 of 100 draws: the choice is based on it."""
    risk: float
    """The amount by which no candidate is better (95 %), however unlike the others the best one is."""
    final_risk: float
    """The amount by which no finalist is better (95 %)."""
    advantage: float
    """Its possible advantage over the recommended one (95 %)."""


class Outcome(NamedTuple):
    """The outcome of the race."""

    rounds: tuple[Round, ...]
    recommended: str
    finalists: tuple[str, ...]
    """Best mean over all queries first: the first one is the leader."""
    may_be_best: tuple[str, ...]
    """Those not shown to be worse that may be better than the recommended one: finalists first."""
    equals: tuple[str, ...]
    """The other finalists that scored the same as the recommended one on every query."""
    beliefs: Mapping[str, Belief]
    embedded: int
    """Distinct texts that were indexed."""
    grid: int
    """Distinct texts of all candidates on everything."""


Oracle = Callable[[int, Sequence[str]], Scored]
"""Number of a round and names → their scores; the final is the round after the last. A failed candidate has no row.

The round asks some of the final's queries, in the final's order. Scouts score there as they do on all text.
"""


def race(
    entrants: Sequence[Entrant], measure: Oracle, rules: Rules, *, queries: Queries, scouts: Sequence[str] = ()
) -> Outcome | None:
    """Run the race and return its outcome; None if no candidate could be measured.

    ``scouts`` are measured on all text from the start.
    """
    here = Contest({entrant.name: entrant for entrant in entrants}, rules, queries, scouts)
    texts = IndexedTexts(entrants)
    last = len(entrants[0].texts) - 1
    tried = list(scouts) if last else list(here.entrants)
    texts.index(here.entrants[name].all_text for name in tried)
    final = measure(last, tried)
    if not last:
        return _decide([_round(final, rules)], here, texts) if final.names else None
    texts.index(each.texts[0] for each in entrants)
    scored = measure(0, list(here.entrants))
    while wave := _next(scored, final, here, texts, tried):
        texts.index(here.entrants[name].all_text for name in wave)
        tried += wave
        final = final.with_rows(measure(last, wave))
    return _decide([_round(scored, rules), _round(final, rules)], here, texts) if final.names else None


def _round(scored: Scored, rules: Rules) -> Round:
    return Round(scored, means(scored, rules.scale), {})


def _next(scored: Scored, final: Scored, here: Contest, texts: IndexedTexts, tried: Sequence[str]) -> list[str]:
    """Return the candidates to measure on all text next, as far as the text budget allows.

    First the one that would lead by its mean in the round and the expected effect of all text; then those likely to be
    the best, with preference for fewer texts. Only the choosing queries are used.
    """
    untried = [name for name in scored.names if name not in tried]
    if not untried:
        return []
    names, found, draws, _ = here.believed(scored, final, here.queries.choosing, draws=_FEW_DRAWS)
    chances = dict(zip(names, np.bincount(draws.argmax(axis=0), minlength=len(names)) / draws.shape[1], strict=True))
    expected = dict(zip(names, found.values, strict=True))
    leader = max(names, key=lambda name: expected[name])

    def place(name: str) -> tuple[bool, float, float, str]:
        worth = chances[name] / math.sqrt(len(here.entrants[name].all_text))
        return (name != leader, -worth, -expected[name], name)

    able = sorted(untried, key=place)
    least = max(0, _LEAST_FINALISTS - len(final.names))
    if not least and leader in tried and sum(chances[name] for name in able) < here.rules.unlikely:
        return []
    return texts.afford(here, able, least=least)


def _ranked(found: Mapping[str, float], here: Contest) -> list[str]:
    """Return the names, best mean first; ties go to the cheaper; those without any value last."""

    def place(name: str) -> tuple[float, tuple[float, ...], str]:
        mean = here.rules.scale.sign * found[name]
        return (math.inf if math.isnan(mean) else -mean, here.entrants[name].cost, name)

    return sorted(found, key=place)


def _decide(rounds: Sequence[Round], here: Contest, texts: IndexedTexts) -> Outcome:
    """Choose among the finalists that may be best and whose means are within the margin of the leader's.

    It is the cheapest of those that risk no more than the margin or, if all risk more, of those with about the least
    risk. Taking the cheapest of all that may be best would be a guess at the expense of quality.
    """
    final, rules = rounds[-1], here.rules
    ranked = _ranked(final.means, here)
    scored = rounds[0].scored if len(rounds) > 1 else None
    worse = _worse(scored, final.scored, ranked, here)
    believed = here.believed(scored, final.scored, np.ones(len(final.scored.clusters), dtype=bool), draws=_DRAWS)
    names, draws = believed.names, believed.draws
    lead = rules.scale.sign * final.means[ranked[0]]
    # One that is further behind would be hard to justify by its mean, whatever explains it.
    near = {name for name in ranked if lead - rules.scale.sign * final.means[name] <= rules.margin} | {ranked[0]}
    met = [name for name in ranked if name in near and name not in worse]
    losses = dict(zip(names, believed.losses(len(names)), strict=True))
    limit = max(rules.margin, min(losses[name] for name in met) + rules.slack * rules.margin)
    good = [name for name in met if losses[name] <= limit]
    recommended = min(good, key=lambda name: (here.entrants[name].cost, ranked.index(name)))
    found = zip(
        rules.scale.sign * draws.mean(axis=1),
        losses.values(),
        believed.risks(len(names)),
        believed.risks(len(ranked)),
        believed.better_by(recommended),
        strict=True,
    )
    beliefs = {name: Belief(*map(float, each)) for name, each in zip(names, found, strict=True)}
    equals = _equals(final.scored, recommended)
    beaten = [name for name in names if beliefs[name].advantage <= 0 and name not in (recommended, *equals)]
    worse = dict.fromkeys(beaten, recommended) | worse
    best = [name for name in [*ranked, *names[len(ranked) :]] if name not in worse]
    done = rounds[:-1] and [rounds[0]._replace(left=_left(rounds[0], ranked, worse, here))]
    embedded = int(texts.indexed.sum())
    return Outcome(
        (*done, final), recommended, tuple(ranked), tuple(best), tuple(equals), beliefs, embedded, texts.grid
    )


def _equals(scored: Scored, name: str) -> list[str]:
    """Return the others that scored the same as this one on every query."""
    row = scored.values[list(scored.names).index(name)]
    same = ((scored.values == row) | (np.isnan(scored.values) & np.isnan(row))).all(axis=1)
    return [other for other, equal in zip(scored.names, same.tolist(), strict=True) if equal and other != name]


def _worse(scored: Scored | None, final: Scored, ranked: Sequence[str], here: Contest) -> dict[str, str]:
    """Return the candidates shown to be inferior to a finalist, each with the finalist for which this is clearest."""
    scale, rivals = here.rules.scale, len(here.entrants) - 1
    level = SIGNIFICANT / 2 if scored else SIGNIFICANT
    pairs = [(name, other) for place, name in enumerate(ranked) for other in ranked[: min(place, _RIVALS)]]
    bounds = upper_bounds(final, pairs, level=level, rivals=rivals, scale=scale)
    if scored:
        bounds |= _round_bounds(scored, final, ranked[:_RIVALS], level, here)
    clear = sorted((bound, pair) for pair, bound in bounds.items() if bound < 0)
    return {name: rival for _, (name, rival) in reversed(clear)}


def _round_bounds(
    scored: Scored, final: Scored, rivals: Sequence[str], level: float, here: Contest
) -> dict[Pair, float]:
    """Return how much better those that have left may be on all text than finalists, from the round's passages.

    The first may lose less than the second when all text is searched: the expected difference, plus two standard
    deviations.
    """
    names = list(scored.names)
    width = largest_difference(scored, here.rules.scale)
    both = [name for name in rivals if name in names]
    pairs = [(name, rival) for name in names if name not in final.names for rival in both]
    found = upper_bounds(scored, pairs, level=level, rivals=len(here.entrants) - 1, scale=here.rules.scale)
    shifts = here.shifts(here.higher(scored), here.higher(final.on(here.queries.asked)), width)
    deviation = np.sqrt(np.diagonal(shifts.errors))

    def bound(first: str, second: str) -> float:
        one, other = names.index(first), names.index(second)
        more = shifts.means[one] + 2 * deviation[one] - shifts.means[other]
        return float(min(found[first, second] + max(0.0, more), width))

    return {pair: bound(*pair) for pair in pairs}


def _left(scored: Round, ranked: Sequence[str], worse: Mapping[str, str], here: Contest) -> dict[str, Left]:
    """Return the candidates measured only in the round, and the one each is behind."""
    leader = next((name for name in ranked if name in scored.means), "")
    rivals = {name: worse.get(name, leader) for name in scored.means if name not in ranked}
    sign, found = here.rules.scale.sign, scored.means
    return {name: Left(rival, sign * (found.get(rival, math.nan) - found[name])) for name, rival in rivals.items()}
