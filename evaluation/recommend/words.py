"""The recommendation in sentences; each claims what its numbers carry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from evaluation.recommend.types import Current, Finalist, Recommendation
from evaluation.report.cautions import DEFINITION_CHUNKERS
from evaluation.report.formats import named, plural, score, span, unit_words, with_unit
from evaluation.statistics import MIN_REPOSITORIES


def sentences(made: Recommendation) -> list[str]:
    """Return what is recommended, what that risks, and how it was found, in the order of importance."""
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
    """Return the recommendation in a line."""
    best = made.best
    return f"{made.recommended}: {plural(best.cost.chunks, 'chunk')} of {best.cost.mean_nws:,.0f} nws on average"


def _answer(made: Recommendation) -> Iterator[str]:
    best, leader = made.best, _finalist(made, made.leader)
    raced = sum(each.round > 0 for each in made.candidates)
    if raced == 1:
        yield f"{headline(made)}. It is the only candidate, so that there is nothing to choose."
        return
    yield f"{headline(made)}. {_risk(made, raced)}{_loss(made)}"
    if made.leader != made.recommended:
        change = _chunks(best.cost.chunks, leader.cost.chunks)
        means = f"{score(made.measure, best.mean_of_all)} against {score(made.measure, leader.mean_of_all)}"
        yield f"It needs {change} than the leader, {made.leader} ({means} over all queries)."
    yield _mean(made)


def _risk(made: Recommendation, raced: int) -> str:
    """Say what no other is better by: of those measured on all text, and of all."""
    risk, among = (with_unit(made.measure, each) for each in (made.risk, made.best.final_risk))
    met = len(made.finalists)
    if met == raced:
        return f"On {made.measure}, no other of the {raced} candidates is better by more than {risk} (95 %)."
    if made.risk <= made.best.final_risk:
        rest = f"no other of the {raced} candidates is better by more than {risk} (95 %)"
    elif met > 1:
        rest = (
            f"no other of the {met} finalists is better by more than {among} (95 %), and none of the "
            f"{raced - met} that were measured on passages alone by more than {risk}"
        )
    else:
        rest = f"none of the {raced - 1} others, measured on passages alone, is better by more than {risk} (95 %)"
    return f"On {made.measure}, {rest}."


def _loss(made: Recommendation) -> str:
    """Say what is believed where that is less than what is risked at most."""
    if made.loss >= made.risk:
        return ""
    likely = with_unit(made.measure, made.loss)
    return f" Judged by what families and near sizes have in common, none is better by more than {likely}."


def _mean(made: Recommendation) -> str:
    """Say how good it is, on queries that did not choose it."""
    mean = made.best.mean
    asked = plural(mean.n, "query")
    which = f"{asked} that did not choose the finalists" if len(made.rounds) > 1 else asked
    interval = "" if math.isnan(mean.low) else f" ({span(made.measure, mean.low, mean.high)})"
    return f"Its mean is {score(made.measure, mean.mean)}{interval} on {which}."


def _others(made: Recommendation) -> Iterator[str]:
    """Say who may be best too, the cheaper ones with what they would risk."""
    met = [each for each in made.finalists if each.may_be_best and each.spec != made.recommended]
    left = len(made.may_be_best) - len(met) - 1
    if met:
        names = named([each.spec for each in met], "or")
        yield f"{'May' if len(met) == 1 else 'Of the finalists, any of these may'} be best too: {names}."
    if left:
        behind = f"{plural(left, 'candidate')} {'is' if left == 1 else 'are'}"
        yield f"Of those that were measured on passages alone, {behind} not shown to be worse and may be best too."
    cheaper = [each for each in met if each.cost.chunks < made.best.cost.chunks]
    if cheaper:
        least = min(cheaper, key=lambda each: (each.final_risk, each.cost.chunks))
        risk = with_unit(made.measure, least.final_risk)
        change = _chunks(least.cost.chunks, made.best.cost.chunks)
        yield f"{least.spec} needs {change} still, and another finalist may be better by {risk}."


def _data(made: Recommendation) -> Iterator[str]:
    """Say where the data are too few for a risk within the margin, and how to come by more."""
    if made.loss <= made.margin or len(made.finalists) < 2:
        return
    where = plural(made.repositories, "repository")
    ways = []
    if made.mined:
        ways.append("queries from the history (--dataset mined:root=PATH,kind=commits)")
    if made.repositories < MIN_REPOSITORIES:
        ways.append("more repositories of the same kind (recommend PATH PATH …)")
    ways.append("questions of your own (chunkbench annotate)")
    yield (
        f"There is too little data to be sure within the margin of {with_unit(made.measure, made.margin)}: "
        f"{plural(made.queries, 'query')} in {where}. More would come from, the cheapest first: {'; '.join(ways)}."
    )


def _searched(made: Recommendation) -> Iterator[str]:
    if made.embedder.partition(":")[0] == "hashing":
        yield "hashing is a smoke test and no model: this says nothing about real embedders."
    if not made.embedder:
        yield f"Words alone searched ({made.retriever}); for an answer about your embedder, name it with --embedder."


def _change(made: Recommendation) -> Iterator[str]:
    current = made.current
    if current is None:
        return
    if current.failed:
        yield f"Your present chunker {current.spec} could not be measured: {current.failed}."
    elif current.change is None:
        yield f"Your present chunker is the recommended one: {current.spec}."
    else:
        yield _gain(made, current)


def _gain(made: Recommendation, current: Current) -> str:
    change = current.change
    if change is None or current.cost is None:
        return ""
    low, high = (change.low, change.high) if change.higher_is_better else (-change.high, -change.low)
    gain = change.difference if change.higher_is_better else -change.difference
    said = "gains" if gain >= 0 else "loses"
    bounds = (low, high) if gain >= 0 else (-high, -low)
    amount = f"{score(made.measure, abs(gain))} {unit_words(made.measure)}".strip()
    shown = "" if change.shown else "; that it makes a difference is not shown"
    chunks = _chunks(made.best.cost.chunks, current.cost.chunks)
    return f"Changing from {current.spec} {said} {amount} ({span(made.measure, *bounds)}{shown}) and needs {chunks}."


def _shape(made: Recommendation) -> Iterator[str]:
    """Say where the answers have the shape of what is recommended, and which finalist leads of those that do not."""
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
    share = made.embedded_texts / max(made.grid_texts, 1)
    verb = "embedded" if made.embedder else "indexed"
    raced = plural(sum(each.round > 0 for each in made.candidates), "candidate")
    worse = f"{fates['worse']} of the others {'is' if fates['worse'] == 1 else 'are'} shown to be worse"
    yield (
        f"Of {raced}, {len(made.finalists)} were measured on all text; {worse}, and {fates['behind']} were behind on "
        f"the passages of {plural(made.rounds[0].queries, 'query')}. "
        f"{made.embedded_texts:,} of {made.grid_texts:,} texts were {verb} ({_per_cent(share)})."
    )


def _left_out(made: Recommendation) -> Iterator[str]:
    fates = Counter(each.fate for each in made.candidates)
    if fates["same chunks"]:
        yield f"{plural(fates['same chunks'], 'candidate')} cut this code exactly as another does and did not race."
    if fates["over the limit"]:
        over = plural(fates["over the limit"], "candidate")
        yield f"{over} exceed a limit and did not race; the risk is about the others."
    if made.failed:
        spec, reason = next(iter(made.failed.items()))
        yield f"{plural(len(made.failed), 'candidate')} failed, and the risk is about the others; {spec}: {reason}"


def _chunks(here: int, there: int) -> str:
    """Return how many chunks fewer, or more, there are here than there."""
    if here == there:
        return "as many chunks"
    fewer = 1 - here / max(there, 1)
    return f"{_per_cent(abs(fewer))} {'fewer' if fewer > 0 else 'more'} chunks"


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _finalist(made: Recommendation, spec: str) -> Finalist:
    return next(each for each in made.finalists if each.spec == spec)
