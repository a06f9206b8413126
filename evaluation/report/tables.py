"""The tables as rows of text, for Markdown, LaTeX and the page, and as unrounded records for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from evaluation.measures.evaluate import median
from evaluation.report.formats import is_published, measure_of, number, p_value, score, span
from evaluation.report.view import Row, View
from evaluation.statistics.intervals import weighted_mean
from evaluation.statistics.types import plain

Group = Literal["kind", "category"]
"""What queries are grouped by: how they were made, and the class that a dataset gives them."""
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True)
class Table:
    """A titled table of text; ``best`` holds the cells (row, column) to mark, ``words`` the columns that are text."""

    title: str
    header: list[str]
    rows: list[list[str]]
    data: list[dict[str, Any]]
    """Each row for programs: unrounded numbers in the unit of results.json, and marks in fields of their own."""
    best: set[tuple[int, int]] = field(default_factory=set)
    words: set[int] = field(default_factory=lambda: {0})

    @property
    def fields(self) -> list[str]:
        """The names of the data's fields."""
        return list(dict.fromkeys(name for row in self.data for name in row))

    def values(self, row: int) -> list[Any]:
        """Return a row's data in the order of the fields; None if unknown."""
        found = plain(self.data[row])
        return [found.get(name) for name in self.fields]


def ranking_table(view: View) -> Table:
    """Return the fair protocol: measures on gold text, with the size of the index."""
    measures = view.fair
    header = ["chunker", view.headline, "95 % interval", "mark", *measures[1:], "chunks", "mean size", "p95 size"]
    rows, data, best = [], [], set()
    for place, row in enumerate(view.rows):
        chunks = row.cell.chunks
        interval = span(view.headline, row.part(view.headline, "low"), row.part(view.headline, "high"))
        rows.append(
            [
                row.chunker,
                score(view.headline, row.mean(view.headline)),
                interval,
                row.mark,
                *(score(name, row.mean(name)) for name in measures[1:]),
                *(number(size or None, digits=0) for size in (chunks.count, chunks.mean_nws, chunks.p95_nws)),
            ]
        )
        data.append(
            {
                "chunker": row.chunker,
                view.headline: row.mean(view.headline),
                **{f"{view.headline} {end}": row.part(view.headline, end) for end in ("low", "high")},
                "mark": row.mark,
                **{name: row.mean(name) for name in measures[1:]},
                "best_in": " ".join(name for name in measures if name in row.best_in),
                **_sizes(row),
            }
        )
        best |= {(place, 1 if k == 0 else 3 + k) for k, name in enumerate(measures) if name in row.best_in}
    return Table("Measures on gold text at equal reading budgets", header, rows, data, best, {0, 3})


def _sizes(row: Row) -> dict[str, Any]:
    chunks = row.cell.chunks
    return {"chunks": chunks.count, "mean_nws": chunks.mean_nws, "p95_nws": chunks.p95_nws}


def published_table(view: View) -> Table:
    """Return the published protocol, each score with that of a random ranking in brackets if known."""
    # The basis of a rank comes first: without it the scores cannot be interpreted.
    header = ["chunker", "chunks", "relevant per query", "tokens behind 5", "tokens behind 10", "uncovered"]
    rows, data = [], []
    for row in view.rows:
        judged = row.cell.judgements
        rows.append(
            [
                row.chunker,
                number(row.cell.chunks.count, digits=0),
                number(judged.relevant_per_query, digits=1),
                *(number(judged.tokens_at.get(k), digits=0) for k in ("5", "10")),
                number(judged.uncovered_queries, digits=0),
                *(score(name, row.mean(name)) + _chance(row, name) for name in view.published),
            ]
        )
        scores = {name: row.mean(name) for name in view.published}
        data.append(
            {
                "chunker": row.chunker,
                "chunks": row.cell.chunks.count,
                "relevant_per_query": judged.relevant_per_query,
                **{f"tokens_behind_{k}": judged.tokens_at.get(k) for k in ("5", "10")},
                "uncovered_queries": judged.uncovered_queries,
                **scores,
                **{f"{name} chance": judged.chance.get(name) for name in scores if name in judged.chance},
            }
        )
    header += view.published
    return Table("Published protocol: measures on chunk ids", header, rows, data)


def group_tables(view: View) -> list[Table]:
    """Return the tables by kind and by category of query, if there are several."""
    return [table for by in GROUPS if (table := group_table(view, by)) is not None]


def group_table(view: View, by: Group) -> Table | None:
    """Return the mean headline score of each chunker on each group of queries; None if there is only one group."""
    labels = [getattr(query, by) or "other" for query in view.queries]
    counts = Counter(labels)
    if len(counts) < 2:
        return None
    groups = np.array(labels)
    clusters = np.array([query.cluster for query in view.queries])
    rows, data = [], []
    for row in view.rows:
        values = row.cell.scores.get(view.headline, np.full(len(groups), np.nan))
        means = {name: group_mean(view, values[groups == name], clusters[groups == name]) for name in counts}
        rows.append([row.chunker, *(score(view.headline, mean) for mean in means.values())])
        asked = {f"{name} queries": count for name, count in counts.items()}
        data.append({"chunker": row.chunker, "measure": view.headline, **means, **asked})
    header = ["chunker", *(f"{name} ({count:,})" for name, count in counts.items())]
    return Table(f"{view.headline} by {by} of query", header, rows, data)


def group_mean(view: View, values: np.ndarray, clusters: np.ndarray) -> float | None:
    """Return the summary of some queries, computed as for the whole: under the same weight, or as a median."""
    measure = measure_of(view.headline)
    if measure.centre == "median":
        middle = median(measure, values)
        return None if np.isnan(middle) else middle
    if np.isnan(values).all():
        return None
    return weighted_mean(values, clusters.tolist(), weight=view.config.weight)


def comparison_table(view: View) -> Table:
    """Return every comparison of the headline measure."""
    header = "a,b,difference,95 % interval,answer,p,p alone,without one,can show,wins,ties,losses,unit".split(",")
    rows = [
        [
            row.a,
            row.b,
            score(view.headline, row.difference, signed=True),
            span(view.headline, row.low, row.high, signed=True),
            f"{row.better} is better" if row.better else row.decision,
            *(_p(value) for value in (row.p, row.p_alone)),
            span(view.headline, row.without_one_low, row.without_one_high, signed=True),
            score(view.headline, row.detectable),
            *(str(getattr(row, name)) for name in ("wins", "ties", "losses")),
            row.unit,
        ]
        for row in view.comparisons
    ]
    data = [{"measure": view.headline, **{name: getattr(row, name) for name in _COMPARED}} for row in view.comparisons]
    return Table(f"All comparisons of {view.headline}", header, rows, data, words={0, 1, 4, 12})


_COMPARED = (
    "a,b,difference,low,high,better,decision,p,p_alone,without_one_low,without_one_high,detectable,wins,ties,losses,unit"
).split(",")
"""Fields of a comparison shown in its table."""


def health_table(view: View) -> Table:
    """Return what happened to the text on its way into each index."""
    header = "chunker,files,failed files,fallbacks,lost nws,doubled nws,cut chunks,cut tokens,seconds".split(",")
    rows, data = [], []
    for row in view.rows:
        chunks = row.cell.chunks
        cut = row.cell.search.truncated
        rows.append(
            [
                row.chunker,
                number(chunks.files, digits=0),
                chunks.failed_words or "none",
                _counts(chunks.fallbacks),
                number(chunks.lost_nws, digits=0),
                number(chunks.doubled_nws, digits=0),
                *(_share(share) for share in ((cut.chunks, cut.tokens) if cut else (None, None))),
                number(sum(row.cell.seconds.values()), digits=1),
            ]
        )
        data.append(
            {
                "chunker": row.chunker,
                "files": chunks.files,
                "failed_files": len(chunks.failed_files),
                "fallbacks": sum(chunks.fallbacks.values()),
                "fallback_reasons": "; ".join(chunks.fallbacks),
                "lost_nws": chunks.lost_nws,
                "doubled_nws": chunks.doubled_nws,
                "cut_chunks": cut.chunks if cut else None,
                "cut_tokens": cut.tokens if cut else None,
                "seconds": sum(row.cell.seconds.values()),
            }
        )
    return Table("Failures, fallbacks and losses", header, rows, data, words={0, 2, 3})


def csv_rows(views: list[View]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return one unrounded row per cell and measure, for a spreadsheet."""
    header = "dataset,embedder,retriever,chunker,protocol,measure,mean,low,high,mark,chunks,mean_nws,p95_nws".split(",")
    rows = []
    for view in views:
        for row in view.rows:
            shared = {**view.setting._asdict(), "chunker": row.chunker}
            rows += [
                {
                    **shared,
                    "protocol": "published" if is_published(measure) else "fair",
                    "measure": measure,
                    **{name: row.part(measure, name) for name in ("mean", "low", "high")},
                    "mark": row.mark if measure == view.headline else "",
                    **_sizes(row),
                }
                for measure in view.measures
            ]
    return header, rows


def _chance(row: Row, measure: str) -> str:
    value = row.cell.judgements.chance.get(measure)
    return "" if value is None else f" ({score(measure, value)})"


def _p(value: float | None) -> str:
    return "–" if value is None else p_value(value).removeprefix("p ").removeprefix("= ")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _counts(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in values.items()) or "none"
