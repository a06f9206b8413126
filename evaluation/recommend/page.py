"""recommend.html: the answer, the figures behind it, and who left when and why, in one self-contained file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from evaluation.recommend.paste import snippets
from evaluation.recommend.types import CandidateRecord, Cost, Finalist, Recommendation
from evaluation.recommend.words import sentences
from evaluation.report.figures.families import families
from evaluation.report.figures.frontier import cost_figure, frontier
from evaluation.report.figures.marks import Mark, marks
from evaluation.report.figures.plane import Point
from evaluation.report.formats import at_most, lower_is_better, number, plural, scale, score, span
from evaluation.report.glossary import Glossary
from evaluation.report.page import dressing, template
from evaluation.report.sections import Figure
from evaluation.report.tables import Table
from evaluation.statistics import Interval

_ENOUGH = 2
"""Candidates from which a figure is informative."""


def recommendation_page(made: Recommendation) -> str:
    """Return the page."""
    return template("recommend.html", "evaluation.recommend").render(
        **dressing(),
        glossary=Glossary.of([made.measure]),
        recommended=made.recommended,
        sentences=sentences(made),
        facts=_facts(made),
        finalists=finalists_table(made),
        caption=final_caption(made),
        figures=_figures(made),
        left=_left_table(made),
        rounds=_rounds_table(made),
        snippets=snippets(made.recommended, made.code),
    )


def _facts(made: Recommendation) -> str:
    searched = f"{made.retriever} with {made.embedder}" if made.embedder else made.retriever
    where = f"{plural(made.queries, 'query')} in {plural(made.repositories, 'repository')}"
    mined = ", mined from the code itself rather than asked by people" if made.mined else ""
    return f"{made.dataset}: {where}{mined}; searched by {searched}; seed {made.seed}"


def cost_columns(made: Recommendation, cost: Cost) -> dict[str, str]:
    """Return column → value of a finalist's costs; columns that do not apply are omitted."""
    shown = {"chunks": f"{cost.chunks:,}", "nws": f"{cost.mean_nws:,.0f}", "tokens": f"{cost.tokens:,}"}
    shown["index MB"] = _small(cost.index_mb)
    if made.embedder:
        shown["min to embed"] = _small(cost.embed_minutes)
    if made.price is not None:
        shown["price"] = _price(cost.price)
    shown["query ms p50"], shown["p95"] = _small(cost.query_p50_ms), _small(cost.query_p95_ms)
    return shown


def _small(value: float | None, *, digits: int = 1) -> str:
    """Return a number with this many decimals; with two significant digits if they would show only zeros."""
    shown = number(value, digits=digits)
    if not value or shown.strip("0."):
        return shown
    return number(value, digits=1 - math.floor(math.log10(value)))


def _price(value: float | None) -> str:
    return _small(value, digits=2 if (value or 0.0) >= 0.1 else 4)


def final_caption(made: Recommendation) -> str:
    """Return what the columns of the final mean."""
    risk = "risk: what another finalist may be better by (95 %)"
    if len(made.rounds) < 2:
        return f"{made.measure}: means of all queries; {risk}"
    unseen = "of unseen ones, which did not choose the finalists and so do not flatter them"
    return f"{made.measure}: means of all queries, which decide, and {unseen}; {risk}"


def finalists_table(made: Recommendation) -> Table:
    """Return the finalists, best mean first, and the chunker in use below them."""
    columns = list(cost_columns(made, made.best.cost))
    # Without a round, all queries are used only in the final, and there is one mean.
    divided = len(made.rounds) > 1
    means = ["all queries", "unseen queries"] if divided else ["all queries"]
    header = ["finalist", *means, "95 % interval", "may be best", "risk", *columns]
    rows = [
        [
            f"{each.spec}{' ←' if each.spec == made.recommended else ''}",
            *([score(made.measure, each.mean_of_all)] if divided else []),
            score(made.measure, each.mean.mean),
            span(made.measure, each.mean.low, each.mean.high),
            "yes" if each.may_be_best else "no",
            _risk(made, each),
            *cost_columns(made, each.cost).values(),
        ]
        for each in made.finalists
    ]
    for used, own, cost in _in_use(made):
        interval = span(made.measure, own.low, own.high)
        mean = [*(["–"] if divided else []), score(made.measure, own.mean)]
        rows.append([f"{used} (in use)", *mean, interval, "–", "–", *cost_columns(made, cost).values()])
    return Table("The final", header, rows, _final_data(made), words={0, header.index("may be best")})


def _risk(made: Recommendation, each: Finalist) -> str:
    """Return a finalist's risk, if there are others."""
    return at_most(made.measure, each.final_risk).partition(" ")[0] if len(made.finalists) > 1 else "–"


def _final_data(made: Recommendation) -> list[dict[str, Any]]:
    """Return the final unrounded, the chunker in use last."""
    data = [
        {
            "finalist": each.spec,
            "recommended": each.spec == made.recommended,
            "all_queries": each.mean_of_all,
            "unseen_queries": each.mean.mean,
            "low": each.mean.low,
            "high": each.mean.high,
            "may_be_best": each.may_be_best,
            "risk": each.final_risk,
            **asdict(each.cost),
        }
        for each in made.finalists
    ]
    for used, own, cost in _in_use(made):
        mean = {"unseen_queries": own.mean, "low": own.low, "high": own.high}
        data.append({"finalist": used, "in_use": True, **mean, **asdict(cost)})
    return data


def _in_use(made: Recommendation) -> Iterator[tuple[str, Interval, Cost]]:
    """Yield the chunker in use with its mean and its cost, if it was measured and cuts differently."""
    used = made.current
    if used is not None and used.mean is not None and used.cost is not None and used.change is not None:
        yield used.spec, used.mean, used.cost


def _left_table(made: Recommendation) -> Table:
    left = sorted(made.candidates, key=lambda each: -each.round)
    rows = [
        [
            each.spec,
            str(each.round) if each.round else "–",
            score(made.measure, each.rounds[-1].mean) if each.rounds else "–",
            "–" if each.behind is None else score(made.measure, each.behind),
            "–" if each.better_by is None or not each.may_be_best else score(made.measure, each.better_by),
            f"{each.chunks:,}",
            f"{each.mean_nws:,.0f}",
            each.reason,
        ]
        for each in left
    ]
    data = [
        {
            "candidate": each.spec,
            "last_round": each.round or None,
            made.measure: each.rounds[-1].mean if each.rounds else None,
            **{name: getattr(each, name) for name in ("behind", "better_by", "chunks", "mean_nws", "reason")},
        }
        for each in left
    ]
    header = ["candidate", "last round", made.measure, "behind", "better by at most", "chunks", "nws", "why"]
    return Table("Who left when, and why", header, rows, data, words={0, 7})


def _rounds_table(made: Recommendation) -> Table:
    names = [*(f"round {k}" for k in range(1, len(made.rounds))), "final"]
    rows = [
        [
            name,
            str(each.candidates),
            f"{each.queries:,}",
            str(each.repositories),
            f"{each.files:,}",
            f"{each.share:.0%}",
        ]
        for name, each in zip(names, made.rounds, strict=True)
    ]
    fields = ("candidates", "queries", "repositories", "files", "share")
    data = [
        {"round": name, **{field: getattr(each, field) for field in fields}}
        for name, each in zip(names, made.rounds, strict=True)
    ]
    header = ["round", "candidates", "queries", "repositories", "files", "of all texts"]
    return Table("The rounds", header, rows, data)


def _figures(made: Recommendation) -> list[tuple[str, Figure]]:
    """Return score against size and against costs, of all candidates measured in the round, on its queries."""
    raced = [each for each in made.candidates if each.rounds and each.mean_nws > 0]
    if len(raced) < _ENOUGH:
        return []
    drawn = marks(_name(each) for each in raced)
    asked = made.rounds[0].queries
    where = "the round" if len(made.rounds) > 1 else "the final"
    said = f"In {where}, in which all were measured on the same {plural(asked, 'query')}, with 95 % intervals"
    found = [
        (
            "Score against size",
            _figure(made, raced, drawn, "nws", f"{said}: {made.measure} against the mean size of a chunk, by family."),
        )
    ]
    costs = [("chunks", "chunks"), ("tokens", "tokens to index")]
    if made.price is not None:
        costs[1] = ("price", "price of embedding")
    for kind, words in costs:
        caption = f"{said}: {made.measure} against {words}; the line joins those that no cheaper one beats."
        found.append((f"Score against {words}", _figure(made, raced, drawn, kind, caption)))
    return found


def _name(each: CandidateRecord) -> str:
    """Return a name whose first part is the family."""
    return f"{each.family.replace(':', ' ')}: {each.spec}"


def _figure(
    made: Recommendation, raced: list[CandidateRecord], drawn: dict[str, Mark], kind: str, caption: str
) -> Figure:
    where: dict[str, Callable[[CandidateRecord], float]] = {
        "nws": lambda each: each.mean_nws,
        "chunks": lambda each: each.chunks,
        "tokens": lambda each: each.tokens,
        "price": lambda each: each.tokens * (made.price or 0.0) / 1e6,
    }
    by = scale(made.measure)
    points = [
        Point(drawn[_name(each)], _name(each), max(where[kind](each), 1e-9), *(by * part for part in _ends(each)))
        for each in raced
    ]
    if kind == "nws":
        wide, narrow = (families(points, measure=made.measure, narrow=narrow) for narrow in (False, True))
        front: set[str] = set()
    else:
        lower = lower_is_better(made.measure)
        wide, narrow = (
            cost_figure(points, cost=kind, measure=made.measure, lower_is_better=lower, narrow=narrow)
            for narrow in (False, True)
        )
        front = {point.name for point in frontier(points, lower_is_better=lower)}
    rows = [
        [
            str(point.mark.number),
            each.spec,
            _price(where[kind](each)) if kind == "price" else f"{where[kind](each):,.0f}",
            number(point.mean),
            f"{number(point.low)} … {number(point.high)}",
            *(["yes" if point.name in front else "no"] if kind != "nws" else []),
        ]
        for each, point in zip(raced, points, strict=True)
    ]
    data = [
        {
            "candidate": each.spec,
            kind: where[kind](each),
            **dict(zip((made.measure, "low", "high"), _ends(each), strict=True)),
            **({"on_the_front": point.name in front} if kind != "nws" else {}),
        }
        for each, point in zip(raced, points, strict=True)
    ]
    header = ["number", "candidate", kind, made.measure, "95 % interval", *(["on the front"] if kind != "nws" else [])]
    return Figure(wide, narrow, caption, Table("", header, rows, data, words={1, 5}))


def _ends(each: CandidateRecord) -> tuple[float, float, float]:
    """Return mean, low and high in the round; with one query there is no interval."""
    found = each.rounds[0]
    low, high = (found.mean if end != end else end for end in (found.low, found.high))  # noqa: PLR0124 - NaN
    return found.mean, low, high
