"""The recommendation in sentences; each claims what its numbers carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evaluation.recommend.types import Current, Finalist, Recommendation
from evaluation.report.formats import named, plural, score, span, unit_words, with_unit
from evaluation.statistics import MIN_REPOSITORIES


def sentences(made: Recommendation) -> list[str]:
    """Return what is recommended, what that risks, and how it was found, in the order of importance."""
    return [
        *_answer(made),
        *_others(made),
        *_change(made),
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
    risk = f"no other of the {raced} candidates is better by more than {with_unit(made.measure, made.risk)} (95 %)"
    if made.risk > best.final_risk and len(made.finalists) > 1:
        met = len(made.finalists)
        risk += f", and none of the {met} finalists by more than {with_unit(made.measure, best.final_risk)}"
    yield f"{headline(made)}. On {made.measure}, {risk}."
    if made.leader != made.recommended:
        change = _chunks(best.cost.chunks, leader.cost.chunks)
        means = f"{score(made.measure, best.mean.mean)} against {score(made.measure, leader.mean.mean)}"
        yield f"It needs {change} than the leader, {made.leader} ({means} in the final)."


def _others(made: Recommendation) -> Iterator[str]:
    """Say which finalists may be best too, the cheaper ones with what they would risk."""
    others = [spec for spec in made.may_be_best if spec != made.recommended]
    if not others:
        return
    yield f"{'May' if len(others) == 1 else 'Any of these may'} be best too: {named(others, 'or')}."
    cheaper = [each for each in made.finalists if each.spec in others and each.cost.chunks < made.best.cost.chunks]
    if cheaper:
        least = min(cheaper, key=lambda each: each.cost.chunks)
        risk = with_unit(made.measure, least.final_risk)
        change = _chunks(least.cost.chunks, made.best.cost.chunks)
        yield f"{least.spec} needs {change} still, and another finalist may be better by {risk}."


def _data(made: Recommendation) -> Iterator[str]:
    """Say where the data are too few for a risk within the margin, and how to come by more."""
    if made.risk <= made.margin or len(made.finalists) < 2:
        return
    asked = made.rounds[-1].queries
    where = plural(made.repositories, "repository")
    ways = []
    if made.mined:
        ways.append("queries from the history (--dataset mined:root=PATH,kind=commits)")
    if made.repositories < MIN_REPOSITORIES:
        ways.append("more repositories of the same kind (recommend PATH PATH …)")
    ways.append("questions of your own (chunkbench annotate)")
    yield (
        f"There is too little data to be sure within the margin of {with_unit(made.measure, made.margin)}: "
        f"{plural(made.queries, 'query')} in {where}, {asked:,} of them in the final. More would come from, "
        f"the cheapest first: {'; '.join(ways)}."
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


def _race(made: Recommendation) -> Iterator[str]:
    if len(made.rounds) < 2:
        return
    fates = Counter(each.fate for each in made.candidates)
    share = made.embedded_texts / max(made.grid_texts, 1)
    verb = "embedded" if made.embedder else "indexed"
    raced = plural(sum(each.round > 0 for each in made.candidates), "candidate")
    asked = plural(made.rounds[-1].queries, "query")
    yield (
        f"Of {raced}, {fates['worse']} left because another was shown to be better and {fates['behind']} because they "
        f"were too far behind to be measured further; {len(made.finalists)} met in the final, on {asked} that no round "
        f"had seen. {made.embedded_texts:,} of {made.grid_texts:,} texts were {verb} ({_per_cent(share)})."
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
