"""What the numbers and marks of a table mean, in a few lines beside it."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.report.formats import lower_is_better, measure_of
from evaluation.report.glance import level_words
from evaluation.report.view import MAY_BE_BEST, STAR, View


def legend(view: View) -> list[str]:
    """Return what the headline means, what counts once, what the marks mean, and what the embedder does not see."""
    return [f"{_headline(view)}{_levels(view)}.", _counting(view), *mark_words(view), *_unseen(view)]


def column_legend(view: View, *, chunk_ids: bool) -> list[str]:
    """Return what the headline and the numbers are, for a table below the facts of its setting.

    ``chunk_ids`` tells whether measures on them are among its columns.
    """
    return [f"{_headline(view)}.", _counting(view, chunk_ids=chunk_ids)]


def _headline(view: View) -> str:
    measure = measure_of(view.headline)
    less = "; less is better" if lower_is_better(measure) else ""
    return f"{measure.name}: {measure.words}{less}"


def _counting(view: View, *, chunk_ids: bool = False) -> str:
    measure = measure_of(view.headline)
    unit = {"share": "Points of 100", "number": "Plain numbers", "count": "Counts"}.get(measure.unit, measure.unit)
    over = f"means with each {view.config.weight} counting once"
    if measure.centre == "median":
        over = "medians over all queries"
    star = f"{STAR} best mean of its measure" + (", of which those on chunk ids have none" if chunk_ids else "")
    return f"{unit.capitalize()}; {over}; ranges are 95 % intervals; {star}; sizes are mean non-whitespace characters."


def mark_words(view: View) -> list[str]:
    """Return what the marks of one setting's table mean: they apply to that setting alone."""
    margin = view.config.margin
    same = f"{margin:g} points" if measure_of(view.headline).unit == "share" else f"{margin:g} % of the mean"
    if not any(row.mark for row in view.rows):
        return []
    if view.baseline:
        return [f"Against {view.baseline}: ▲ better, ▼ worse, ≈ practically the same (within {same}), ? undecided."]
    alone = " of this setting, taken by itself" if not view.alone else ""
    return [
        f"{MAY_BE_BEST} may be the best{alone}: with 95 % confidence the truly best {view.noun} is among those marked."
    ]


def _levels(view: View) -> str:
    """Return the scores of a random and of a perfect ranking of the same chunks."""
    chance, ceiling = (level_words([view], level) for level in ("chance", "ceiling"))
    return f" (random ranking {chance}, perfect ranking {ceiling})" if chance and ceiling else ""


def _unseen(view: View) -> Iterator[str]:
    """Return the share of the tokens that the embedder cuts off, where it has a limit."""
    shares = [row.cell.search.truncated.tokens for row in view.rows if row.cell.search.truncated]
    if shares and max(shares) > 0:
        low, high = (f"{100 * end:.1f}" for end in (min(shares), max(shares)))
        share = high if low == high else f"{low} to {high}"
        yield f"{view.setting.embedder} does not see {share} % of the tokens."
