"""The cost of every row beside its score, and whether an index is worth it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evaluation.report.formats import joined, measure_of, number, plural, score, span, unit_words
from evaluation.report.tables import Table
from evaluation.report.view import Row, View
from evaluation.results.facts import CostFacts, TokensRead
from evaluation.statistics import Comparison

_HEADER = "chunker,half read,reached,80 % read,reached,index,build,query p50,p95".split(",")
_TIMES = ("build_seconds", "query_seconds_p50", "query_seconds_p95")
_EMBEDDED = {"texts": "texts_embedded", "tokens": "tokens_embedded"}


def cost_table(view: View) -> Table | None:
    """Return the cost of every row, best score first; None if unknown, as for runs older than cost recording."""
    if all(row.cell.cost == CostFacts() for row in view.rows):
        return None
    # Search by words alone embeds nothing: columns of zeros would look like a measurement.
    embedded = _EMBEDDED if any(row.cell.cost.texts_embedded for row in view.rows) else {}
    priced = any(row.cell.cost.price is not None for row in view.rows)
    rows = [_cells(row, embedded=list(embedded.values()), priced=priced) for row in view.rows]
    data = [_data(row) for row in view.rows]
    return Table("Cost beside quality", [*_HEADER, *embedded, *(["price"] if priced else [])], rows, data)


def cost_legend(view: View) -> list[str]:
    """Return what the columns mean, and the machine on which times were measured."""
    read = (
        "Half read, 80 % read: tokens read until that share of the answer has been seen, median over all queries; "
        f"reached: the share of the queries that get there within {max(view.config.budgets):,} tokens."
    )
    made = "Index: postings and vectors without the texts. Build: cutting, embedding and indexing."
    if any(row.cell.cost.texts_embedded for row in view.rows):
        made += " Texts, tokens: what is embedded, each text once."
    return [read, made, *_timing([row.cell.cost for row in view.rows])]


def _timing(costs: Sequence[CostFacts]) -> Iterator[str]:
    timed = [cost for cost in costs if cost.queries_timed]
    if not timed:
        return
    counts = sorted({cost.queries_timed for cost in timed})
    asked = plural(counts[0], "query") if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} queries"
    with_model = ", embedding included" if any(cost.query_embedding_timed for cost in timed) else ""
    on = joined(list(dict.fromkeys(cost.machine for cost in timed)))
    yield (
        f"Query times are of {asked}, asked one at a time{with_model}. Times were measured when a row was first made, "
        f"beside what else ran, and are kept with it: {on}."
    )


def index_sentences(views: Sequence[View]) -> Iterator[str]:
    """Yield for each dataset whether the chunkers' indexes are worth it, if there is a search without an index."""
    groups: dict[str, list[View]] = {}
    for view in views:
        groups.setdefault(view.setting.dataset, []).append(view)
    for dataset, group in groups.items():
        told = _is_it_worth(group)
        if told:
            yield f"{dataset}: {told}" if len(groups) > 1 else told


class _Pair(NamedTuple):
    """The leading chunker of a setting, the leading search without an index, and their comparison."""

    view: View
    best: Row
    bare: Row
    found: Comparison


def _is_it_worth(group: Sequence[View]) -> str:
    pairs: list[_Pair] = []
    for view in group:
        bare = next((row for row in view.rows if row.cell.cost.index_bytes == 0), None)
        best = next((row for row in view.rows if row.cell.chunks.count), None)
        found = view.comparison(best.chunker, bare.chunker) if best and bare else None
        if best and bare and found is not None:
            pairs.append(_Pair(view, best, bare, found))
    if not pairs:
        return ""
    headline, bare = pairs[0].view.headline, pairs[0].bare
    differences = [
        f"{_setting(view, pairs)}{best.chunker} {score(headline, found.difference, signed=True)} "
        f"({span(headline, found.low, found.high, signed=True)})"
        for view, best, _, found in pairs
    ]
    chunked = [f"{_setting(view, pairs) or f'{best.chunker}: '}{_half(best)}" for view, best, _, _ in pairs]
    read = "; ".join([*chunked, f"{bare.chunker}: {_half(bare)}"])
    return (
        f"Is an index worth it? {measure_of(headline).name} of the leading chunker minus {bare.chunker}, the leading "
        f"search without one, in {unit_words(headline) or 'its unit'}: {'; '.join(differences)}: {_answer(pairs)}. "
        f"Tokens until half of the answer has been read, and the share of the queries that get there: {read}."
    )


def _answer(pairs: Sequence[_Pair]) -> str:
    better = sum(found.better == best.chunker for _, best, _, found in pairs)
    worse = sum(found.better == bare.chunker for _, _, bare, found in pairs)
    if not better and not worse:
        return "no difference is shown"
    shown = [f"{word} in {count}" for word, count in (("better", better), ("worse", worse)) if count]
    if len(pairs) == 1:
        return f"the index is shown to be {'better' if better else 'worse'}"
    return f"the index is shown to be {joined(shown)} of {len(pairs)} settings"


def _setting(view: View, pairs: Sequence[_Pair]) -> str:
    return " · ".join(filter(None, view.setting[1:])) + ": " if len(pairs) > 1 else ""


def _half(row: Row) -> str:
    read = row.cell.cost.tokens_to_50
    if read is None:
        return "not known"
    return f"{'beyond the budgets' if read.median is None else number(read.median, digits=0)} ({_share(read)})"


def _cells(row: Row, *, embedded: Sequence[str], priced: bool) -> list[str]:
    cost = row.cell.cost
    return [
        row.chunker,
        *_read(cost.tokens_to_50),
        *_read(cost.tokens_to_80),
        byte_words(cost.index_bytes),
        *(time_words(getattr(cost, name)) for name in _TIMES),
        *(number(getattr(cost, name) or None, digits=0) for name in embedded),
        *([number(cost.price, digits=4)] if priced else []),
    ]


def _data(row: Row) -> dict[str, Any]:
    cost = row.cell.cost
    read = {
        f"tokens_to_{share} {name}": getattr(found, name) if found else None
        for share, found in (("50", cost.tokens_to_50), ("80", cost.tokens_to_80))
        for name in ("median", "reached")
    }
    names = ("index_bytes", *_TIMES, *_EMBEDDED.values(), "price")
    return {"chunker": row.chunker, **read, **{name: getattr(cost, name) for name in names}}


def _read(read: TokensRead | None) -> tuple[str, str]:
    if read is None:
        return "–", "–"
    return number(read.median, digits=0), _share(read)


def _share(read: TokensRead) -> str:
    return f"{100 * read.reached:.0f} %"


def byte_words(count: float | None) -> str:
    """Return "812 B", "5.1 MB"; a dash if unknown."""
    if count is None:
        return "–"
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:,.{0 if unit == 'B' or count >= 100 else 1}f} {unit}"


def time_words(seconds: float | None) -> str:
    """Return "0.42 ms", "12 ms", "3.1 s", "4.2 min"; a dash if unknown."""
    if seconds is None:
        return "–"
    if seconds == 0:
        return "0"
    for limit, factor, unit in ((1, 1000, "ms"), (100, 1, "s"), (6000, 1 / 60, "min")):
        if seconds < limit:
            value = seconds * factor
            return f"{value:.{2 if value < 1 else 1 if value < 10 else 0}f} {unit}"
    return f"{seconds / 3600:,.1f} h"
