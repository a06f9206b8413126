"""The key facts beside the answer: which chunkers may be best, over what, and what could have been shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.report.formats import measure_of, plural, score, with_unit
from evaluation.report.power import detectable, power_words
from evaluation.report.reading import is_read
from evaluation.report.view import View
from evaluation.results.types import Results


class Fact(NamedTuple):
    """A fact with its name."""

    name: str
    words: str
    chunkers: tuple[str, ...] = ()
    """Chunkers shown in place of words, each with its mark."""


def facts(view: View) -> list[Fact]:
    """Return the facts of one setting."""
    return [*_best(view), *_estimand(view), *_power(view), *_levels(view), *_unseen([view])]


def overall_facts(results: Results, views: Sequence[View]) -> list[Fact]:
    """Return the facts of all settings together."""
    scored = [view for view in views if view.rows]
    if len(views) < 2 or not scored:
        return []
    said = [Fact("May be best in every setting", "", results.overall.may_be_best)] if results.overall else []
    said = [fact for fact in said if fact.chunkers]
    said += [*_read(scored), _estimand_of_all(scored)]
    smallest = [least for view in scored if not math.isnan(least := detectable(view))]
    if smallest:
        ends = [score(views[0].headline, end) for end in (min(smallest), max(smallest))]
        between = f"{ends[0]} to {with_unit(views[0].headline, max(smallest))}"
        size = with_unit(views[0].headline, max(smallest)) if ends[0] == ends[1] else between
        where = f"in {len(smallest)} of {len(scored)}, " if len(smallest) < len(scored) else ""
        said.append(Fact("What one setting could show", f"{where}a true difference of {size}, four times in five"))
    chance, ceiling = (level_words(scored, level) for level in ("chance", "ceiling"))
    if chance and ceiling:
        said.append(Fact("Between chance and ceiling", f"random ranking {chance}, perfect ranking {ceiling}"))
    return [*said, *_unseen(scored)]


def _read(views: Sequence[View]) -> Iterator[Fact]:
    """Yield what a reader has seen at the headline's budget, in words that need no measure."""
    named = [(view, view.recall_name) for view in views]
    shares = [row.mean(name) for view, name in named if name for row in view.rows]
    known = [share for share in shares if share is not None]
    if known and is_read(views[0].headline):
        low, high = (f"{100 * end:.0f}" for end in (min(known), max(known)))
        share = low if low == high else f"{low} to {high}"
        budget = measure_of(views[0].headline).budget_words
        said = f"once you have read {budget}, {share} % of the code that answers a question has been shown"
        yield Fact("In plain words", said)


def _estimand_of_all(views: Sequence[View]) -> Fact:
    noun = "mined query" if all(view.mined for view in views) else "query"
    queries, repositories = _asked_together(views)
    over = f"{plural(queries, noun)} of {plural(repositories, 'repository')}"
    measure = measure_of(views[0].headline)
    how = (
        "medians over queries" if measure.centre == "median" else f"means, each {views[0].config.weight} counting once"
    )
    return Fact("What is compared", f"{measure.name} in {plural(len(views), 'setting')}: {how}; {over}")


def _asked_together(views: Sequence[View]) -> tuple[int, int]:
    """Return the numbers of queries and repositories; those that merged runs share count once."""
    asked: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for query in (query for view in views for query in view.queries):
        asked.setdefault((query.cluster, query.dataset), set()).add((query.id, query.text))
    repositories: dict[str, list[set[tuple[str, str]]]] = {}
    for (cluster, _), queries in asked.items():
        known = repositories.setdefault(cluster, [])
        same = [each for each in known if each & queries]
        repositories[cluster] = [*(each for each in known if each not in same), queries.union(*same)]
    together = [each for known in repositories.values() for each in known]
    return sum(map(len, together)), len(together)


def _best(view: View) -> Iterator[Fact]:
    if view.best and view.baseline is None:
        yield Fact("May be best", "", tuple(view.best.may_be_best))


def _estimand(view: View) -> Iterator[Fact]:
    measure = measure_of(view.headline)
    over = f"{asked_words(view)} of {plural(view.repositories, 'repository')}"
    how = "median over queries" if measure.centre == "median" else f"mean, each {view.config.weight} counting once"
    yield Fact("What is compared", f"{measure.name}: {how}; {over}")


def asked_words(view: View) -> str:
    """Return the number of queries, and whether they were mined from the code."""
    return plural(len(view.queries), "mined query" if view.mined else "query")


def _power(view: View) -> Iterator[Fact]:
    words = power_words(view)
    if words:
        yield Fact("What this run could show", words)


def _levels(view: View) -> Iterator[Fact]:
    ends = [level_words([view], level) for level in ("chance", "ceiling")]
    if all(ends):
        yield Fact("Between chance and ceiling", f"random ranking {ends[0]}, perfect ranking {ends[1]}")


def level_words(views: Sequence[View], level: str) -> str:
    """Return the score of a random (chance) or perfect (ceiling) ranking, as a range; nothing if unknown."""
    found = [getattr(row.cell.judgements, level) for view in views for row in view.rows]
    values = [each[views[0].headline] for each in found if views[0].headline in each]
    if not values:
        return ""
    low, high = (score(views[0].headline, end) for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _unseen(views: Sequence[View]) -> Iterator[Fact]:
    cut = [row.cell.search.truncated for view in views for row in view.rows]
    shares = [each.tokens for each in cut if each]
    if shares:
        low, high = (f"{100 * end:.1f}" for end in (min(shares), max(shares)))
        share = "nothing" if high == "0.0" else f"{high if low == high else f'{low} to {high}'} % of the tokens"
        yield Fact("Not seen by the embedder", share)
