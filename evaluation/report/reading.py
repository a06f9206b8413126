"""How much of the answer has been read at the headline's budget, in words that need no measure."""

from __future__ import annotations

from evaluation.report.formats import measure_of, score, span
from evaluation.report.view import View, find_pair
from evaluation.statistics import Comparison

_READ_BY = ("naurc", "recall")
"""Headlines whose plain meaning is the share of the answer that has been read."""


def is_read(headline: str) -> bool:
    """Return whether the headline's plain meaning is the share of the answer that has been read."""
    return measure_of(headline).label in _READ_BY


def reading_sentence(view: View, first: str, second: str, *, which: str = "", basis: str) -> str:
    """Return how much of the answer two chunkers have shown, and by how much the first is ahead; "" if unknown.

    which: what follows the name of the second one.
    """
    headline = measure_of(view.headline)
    name = view.recall_name
    pair = find_pair(view.reading, first, second)
    if name is None or pair is None or not is_read(view.headline):
        return ""
    shares = [view.row(one).mean(name) for one in (first, second)]
    if None in shares:
        return ""
    one, other = (f"{score(name, share)} %" for share in shares)
    return (
        f"Of the code that answers a question, {first} has shown {one} once you have read {headline.budget_words}, "
        f"{second}{which} {other}: {_more(name, pair)}, {basis}."
    )


def _more(measure: str, pair: Comparison) -> str:
    """Return the difference in words, with its interval and the decision."""
    amount = score(measure, abs(pair.difference))
    ends = span(measure, pair.low, pair.high, signed=True)
    if pair.ties == pair.n_queries:
        return "the same for every question"
    if pair.shown:
        low, high = sorted(abs(end) for end in (pair.low, pair.high))
        return f"{amount} points {'more' if pair.difference > 0 else 'less'} ({span(measure, low, high)})"
    if pair.decision == "practically the same":
        return f"practically the same ({ends} points)"
    if not amount.strip("0."):
        return f"equal, up to chance ({ends} points)"
    return f"{amount} points {'more' if pair.difference > 0 else 'less'}, which may be chance ({ends})"
