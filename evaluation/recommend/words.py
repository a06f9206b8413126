"""The recommendation in sentences; each claims only what its numbers support."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from evaluation.recommend.types import CandidateRecord, Cost, Current, Fate, Finalist, Gain, Recommendation
from evaluation.report.cautions import DEFINITION_CHUNKERS
from evaluation.report.formats import (
    at_most,
    is_share,
    joined,
    named,
    plural,
    scale,
    score,
    span,
    unit_words,
    with_unit,
)
from evaluation.statistics import MIN_REPOSITORIES

_NOT_RACED: tuple[tuple[Fate, str, str], ...] = (
    ("same chunks", "cuts this code exactly as another does", "cut this code exactly as another does"),
    ("over the limit", "exceeds a limit", "exceed a limit"),
    ("failed", "failed", "failed"),
)
"""Why candidates did not race, in singular and plural."""
_ALL_POINTS = 100.0


def sentences(made: Recommendation) -> list[str]:
    """Return the recommendation, its risk, and how it was found, in order of importance."""
    return [
        *_answer(made),
        *_others(made),
        *_change(made),
        *_shape(made),
        *_data(made),
        *_searched(made),
        *_race(made),
        *_left_out(made),
    ]


def headline(made: Recommendation) -> str:
    """Summarise the recommendation in a line."""
    best = made.best
    return f"{made.recommended}: {plural(best.cost.chunks, 'chunk')} of {best.cost.mean_nws:,.0f} nws on average"


def _answer(made: Recommendation) -> Iterator[str]:
    raced = len(_raced(made))
    if raced == 1:
        yield f"{headline(made)}. {_alone(made)}"
    else:
        yield f"{headline(made)}. {_risk(made, raced)}{_loss(made)}"
    if made.leader != made.recommended:
        leader = _finalist(made, made.leader)
        means = f"{score(made.measure, made.best.mean_of_all)} against {score(made.measure, leader.mean_of_all)}"
        yield f"It {_saving(made, leader)} the leader, {made.leader} ({means} over all queries)."
    yield _mean(made)
    if made.uncut:
        yield f"Caution: it failed on {made.uncut}; nothing can be found there."
    if made.fallbacks:
        yield f"Caution: it {made.fallbacks}."


def _raced(made: Recommendation) -> list[CandidateRecord]:
    """Return the candidates that the risk is about, and the recommended one."""
    return [each for each in made.candidates if each.round > 0 and each.fate != "failed"]


def _alone(made: Recommendation) -> str:
    """State that there was nothing to choose from, and why."""
    why = joined([words for _, words in _not_raced(made)]) if len(made.candidates) > 1 else ""
    if not why:
        return "It is the only candidate, so that there is nothing to choose."
    return f"It is the only one left of {len(made.candidates)} candidates, so that there is nothing to choose: {why}."


def _not_raced(made: Recommendation) -> Iterator[tuple[Fate, str]]:
    """Yield the reasons why candidates did not race, with their numbers."""
    fates = Counter(each.fate for each in made.candidates)
    for fate, one, many in _NOT_RACED:
        if fates[fate]:
            yield fate, f"{fates[fate]:,} {one if fates[fate] == 1 else many}"


def _saving(made: Recommendation, leader: Finalist) -> str:
    """State what the recommended one saves compared with the leader: what decides which is cheaper."""
    here, there = made.best.cost, leader.cost
    fewer_tokens = f"{_fewer(here.tokens, there.tokens)} tokens to index than"
    if made.price is not None and here.tokens != there.tokens:
        return f"needs {fewer_tokens}"
    if here.chunks == there.chunks:
        return f"needs as many chunks and {fewer_tokens}"
    return f"needs {_fewer(here.chunks, there.chunks)} chunks than"


def _risk(made: Recommendation, raced: int) -> str:
    """State the amount by which no other is better: of those measured on all text, and of all."""
    met = len(made.finalists)
    if met == raced or made.risk <= made.best.final_risk:
        return f"On {made.measure}, {_none_better(made, raced - 1, 'other candidate', '', made.risk)}."
    which = " measured on passages alone"
    passages = _none_better(made, raced - met, "candidate", which, made.risk)
    if met == 1:
        return f"On {made.measure}, {passages}."
    finalists = _none_better(made, met - 1, "other finalist", "", made.best.final_risk)
    return f"On {made.measure}, {finalists}, and {passages}."


def _none_better(made: Recommendation, others: int, who: str, which: str, amount: float) -> str:
    """State that none of this many is better, or not by more than an amount; or that it is unknown."""
    everyone = f"the {f'{who}{which}' if others == 1 else f'{others:,} {who}s{which}'}"
    if amount * scale(made.measure) >= _ALL_POINTS and is_share(made.measure):
        return f"how much better {everyone} may be is not known"
    none = f"{everyone} is not" if others == 1 else f"{'neither' if others == 2 else 'none'} of {everyone} is"
    return f"{none} better{_by(made, amount)} (95 %)"


def _by(made: Recommendation, amount: float) -> str:
    return f" by more than {at_most(made.measure, amount)}" if amount > 0 else ""


def _loss(made: Recommendation) -> str:
    """State the likely loss, if it is less than the largest risk."""
    if made.loss >= made.risk:
        return ""
    none = "it is not" if len(_raced(made)) == 2 else "none is"
    return f" Judged by what families and near sizes have in common, {none} better{_by(made, made.loss)}."


def _mean(made: Recommendation) -> str:
    """State how good it is, on queries that did not choose it."""
    mean = made.best.mean
    asked = plural(mean.n, "query")
    which = f"{asked} that did not choose the finalists" if len(made.rounds) > 1 else asked
    interval = "" if math.isnan(mean.low) else f" ({span(made.measure, mean.low, mean.high)})"
    return f"Its mean is {score(made.measure, mean.mean)}{interval} on {which}."


def _others(made: Recommendation) -> Iterator[str]:
    """State which others may be best, the cheaper ones with their risk."""
    met = [each for each in made.finalists if each.may_be_best and each.spec != made.recommended]
    left = len(made.may_be_best) - len(met) - 1
    if met:
        names = named([each.spec for each in met], "or")
        yield f"{'May' if len(met) == 1 else 'Of the finalists, any of these may'} be best too: {names}."
    if same := [each.spec for each in met if each.same]:
        yield f"{named(same)} scored the same as {made.recommended} on every query."
    if left:
        behind = f"{plural(left, 'candidate')} {'is' if left == 1 else 'are'}"
        yield f"Of those that were measured on passages alone, {behind} not shown to be worse and may be best too."
    cheaper = [each for each in met if each.cost.chunks < made.best.cost.chunks]
    if cheaper:
        least = min(cheaper, key=lambda each: (each.final_risk, each.cost.chunks))
        fewer, by = _fewer(least.cost.chunks, made.best.cost.chunks), at_most(made.measure, least.final_risk)
        risk = f"but another finalist may be better than it by {by}" if least.final_risk > 0 else "and none is better"
        yield f"{least.spec} needs {fewer} chunks, {risk} (95 %)."


def _data(made: Recommendation) -> Iterator[str]:
    """State if the data are too few for a risk within the margin, and how to get more."""
    if made.loss <= made.margin or len(made.finalists) < 2:
        return
    where = plural(made.repositories, "repository")
    ways = []
    if made.limited:
        ways.append("a larger --limit")
    if made.history:
        ways.append("queries from the history (--dataset mined:root=PATH,kind=commits)")
    if made.repositories < MIN_REPOSITORIES:
        ways.append("more repositories of the same kind (recommend PATH PATH …)")
    ways.append("questions of your own (chunkbench annotate)")
    order = ", cheapest first, from: " if len(ways) > 1 else " from "
    yield (
        f"There is too little data to be sure within the margin of {with_unit(made.measure, made.margin)}: "
        f"{plural(made.queries, 'query')} in {where}. More would come{order}{'; '.join(ways)}."
    )


def _searched(made: Recommendation) -> Iterator[str]:
    if made.embedder.partition(":")[0] == "hashing":
        yield "hashing is a smoke test and no model: this says nothing about real embedders."
    if not made.embedder:
        yield f"Searched by words alone ({made.retriever}); for an answer about your embedder, name it with --embedder."


def _change(made: Recommendation) -> Iterator[str]:
    current = made.current
    if current is None:
        return
    if current.failed:
        yield f"Your present chunker {current.spec} could not be measured: {current.failed}."
    elif current.spec == made.recommended:
        yield f"Your present chunker is the recommended one: {current.spec}."
    elif current.change is None or current.gain is None or current.cost is None:
        yield f"Changing from {current.spec} changes nothing: it cuts this code exactly as {made.recommended} does."
    else:
        yield _gain(made, current, current.gain, current.cost, shown=current.change.shown)
    if current.uncut and current.spec != made.recommended:
        yield f"Caution: {current.spec} failed on {current.uncut}; with it nothing can be found there."


def _gain(made: Recommendation, current: Current, gain: Gain, cost: Cost, *, shown: bool) -> str:
    said = "gains" if gain.mean >= 0 else "loses"
    bounds = (gain.low, gain.high) if gain.mean >= 0 else (-gain.high, -gain.low)
    amount = f"{score(made.measure, abs(gain.mean))} {unit_words(made.measure)}".strip()
    unsure = "" if shown else "; that it makes a difference is not shown"
    here, there = made.best.cost.chunks, cost.chunks
    chunks = "as many" if here == there else _fewer(here, there)
    interval = span(made.measure, *bounds)
    return f"Changing from {current.spec} {said} {amount} ({interval}{unsure}) and needs {chunks} chunks."


def _shape(made: Recommendation) -> Iterator[str]:
    """State if the answers have the shape of the recommended chunks, and which other finalist leads."""
    if not made.docstring_queries or not _cuts_definitions(made.recommended):
        return
    # Finalists are in the order of their means.
    other = next((each for each in made.finalists if not _cuts_definitions(each.spec)), None)
    best = f"; of the other finalists {other.spec} leads ({score(made.measure, other.mean_of_all)})" if other else ""
    asked = plural(made.docstring_queries, "docstring query")
    yield f"Caution: the answer to {asked} is one definition, which is exactly what {made.recommended} cuts{best}."


def _cuts_definitions(spec: str) -> bool:
    return spec.partition(":")[0] in DEFINITION_CHUNKERS


def _race(made: Recommendation) -> Iterator[str]:
    if len(made.rounds) < 2:
        return
    fates = Counter(each.fate for each in made.candidates)
    share = made.embedded_texts / made.grid_texts
    verb = "embedded" if made.embedder else "indexed"
    raced = plural(len(_raced(made)), "candidate")
    met, worse, behind = len(made.finalists), fates["worse"], fates["behind"]
    shown = f"{worse:,} of the others {'is' if worse == 1 else 'are'}" if worse else "none of the others is"
    more = f", and {behind:,} {_was(behind)} behind" if behind else ""
    yield (
        f"Of {raced}, {met:,} {_was(met)} measured on all text; {shown} shown to be worse{more} "
        f"on the passages of {plural(made.rounds[0].queries, 'query')}. "
        f"{made.embedded_texts:,} of {plural(made.grid_texts, 'text')} {_was(made.embedded_texts)} {verb} "
        f"({_per_cent(share)})."
    )


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _left_out(made: Recommendation) -> Iterator[str]:
    """State which did not race, or failed, that the risk does not cover them, and which failed on some files."""
    alone = len(_raced(made)) == 1
    for fate, words in _not_raced(made):
        if fate == "failed":
            failed = [each for each in made.candidates if each.fate == "failed"]
            about = "" if alone else ", and the risk is about the others"
            # The reason of the chunker in use has already been given.
            unsaid = [each for each in failed if not made.current or each.spec != made.current.spec]
            example = f"; {unsaid[0].spec}: {unsaid[0].reason}" if unsaid else f": {failed[0].spec}"
            yield f"{plural(len(failed), 'candidate')} failed{about}{example}."
        elif not alone:
            count, _, verb = words.partition(" ")
            noun = "candidate" if count == "1" else "candidates"
            about = "; the risk is about the others" if fate == "over the limit" else ""
            yield f"{count} {noun} {verb} and did not race{about}."
    said = {made.recommended, made.current.spec if made.current else ""}
    if partly := [each for each in made.candidates if each.uncut and each.spec not in said]:
        example = f"{partly[0].spec} on {partly[0].uncut}"
        yield f"{plural(len(partly), 'other candidate')} failed on some files and found nothing there: {example}."


def _fewer(here: int, there: int) -> str:
    """Return how many fewer, or more, there are in one than in the other, in per cent."""
    fewer = 1 - here / there
    return f"{_per_cent(abs(fewer))} {'fewer' if fewer > 0 else 'more'}"


def _per_cent(share: float) -> str:
    """Return a share in whole per cent; nearly none and nearly all are not rounded to none and all."""
    shown = f"{100 * share:,.0f}"
    if shown == "0" and share > 0:
        return "less than 1 %"
    return "over 99 %" if shown == "100" and share < 1 else f"{shown} %"


def _finalist(made: Recommendation, spec: str) -> Finalist:
    return next(each for each in made.finalists if each.spec == spec)
