"""Limits on the cost of an index: which candidates exceed them, by how much, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.session import Session
from evaluation.recommend.costs import index_mb
from evaluation.recommend.texts import index_tokens
from evaluation.recommend.types import Limits
from evaluation.report.formats import joined, plural

_MOST_DIGITS = 15


class Exceeded(NamedTuple):
    """A limit that a candidate exceeds."""

    limit: Literal["chunks", "price", "index"]
    times: float
    """The candidate's cost as a multiple of the limit."""
    words: str


_REMEDIES = {
    "chunks": "name larger chunks with --candidates",
    "index": "name larger chunks with --candidates",
    "price": "take a cheaper embedder, fewer files, or chunks without overlap and headers: the size of chunks hardly "
    "changes how many tokens there are",
}


def impossible(exceeding: Mapping[str, Sequence[Exceeded]]) -> str:
    """Return which candidate is nearest to the limits that all exceed, and what helps."""
    nearest = min(exceeding, key=lambda spec: max(each.times for each in exceeding[spec]))
    over = exceeding[nearest]
    remedies = "; ".join(dict.fromkeys(_REMEDIES[each.limit] for each in over))
    return (
        f"no candidate is within the limits; the nearest is {nearest} with {joined([each.words for each in over])}. "
        f"Raise the {'limit' if len(over) == 1 else 'limits'}, or {remedies}"
    )


def exceeded(session: Session, table: ChunkTable, limits: Limits) -> Iterator[Exceeded]:
    """Yield the limits that a candidate exceeds."""
    if limits.max_chunks is not None and len(table) > limits.max_chunks:
        words = f"{plural(len(table), 'chunk')} (the limit is {limits.max_chunks:,})"
        yield Exceeded("chunks", len(table) / limits.max_chunks, words)
    if limits.price is not None and limits.budget is not None:
        price = index_tokens(table) * limits.price / 1e6
        if price > limits.budget:
            cost, most = distinguishable(price, limits.budget)
            yield Exceeded("price", price / limits.budget, f"a price of {cost} (the limit is {most})")
    if limits.max_index_mb is not None:
        size = index_mb(session, table)
        if size > limits.max_index_mb:
            megabytes, most = distinguishable(size, limits.max_index_mb)
            yield Exceeded("index", size / limits.max_index_mb, f"an index of {megabytes} MB (the limit is {most})")


def distinguishable(value: float, limit: float) -> tuple[str, str]:
    """Format two different numbers with enough digits to tell them apart: two decimals, or more."""
    texts = ((f"{value:,.{digits}f}", f"{limit:,.{digits}f}") for digits in range(2, _MOST_DIGITS))
    return next(
        (pair for pair in texts if pair[0] != pair[1] and float(pair[1].replace(",", ""))), (f"{value}", f"{limit}")
    )
