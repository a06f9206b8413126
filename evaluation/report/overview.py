"""The overview: each chunker in each setting, over all queries and over each kind and language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluation.report.figures.marks import Mark
from evaluation.report.formats import is_share, lower_is_better, score
from evaluation.report.overall import marks_beside_others
from evaluation.report.tables import group_mean
from evaluation.report.view import View
from evaluation.results.types import Results

ALL = "all queries"
SHADES = 8
_WIDE = 0.1
"""Smallest range of the shades: 10 points, as a share."""
_MOST_GROUPS = 12
"""Kinds or languages shown per setting; if there are more, the largest ones."""


class Column(NamedTuple):
    """Some queries of one setting."""

    section: int
    """The section of the page it belongs to, from 1."""
    dataset: str
    embedder: str
    retriever: str
    group: str
    """How the queries are grouped: all queries, kind or language."""
    name: str
    """The kind or language itself; empty for all queries."""
    queries: int

    @property
    def record(self) -> dict[str, Any]:
        """The column's record in a saved file."""
        return {name: value for name, value in self._asdict().items() if name != "section"}


class Entry(NamedTuple):
    """One mean: as text, as a number to sort by, and its standing in its column."""

    text: str
    value: float | None
    shade: int | None
    """From 0, far behind, up to the best of the column."""
    mark: str
    """For a setting's column: whether it may be best, or its comparison with the baseline."""
    best: bool

    @property
    def record(self) -> dict[str, Any]:
        """The entry's record in a saved file."""
        return {"mean": self.value, "mark": self.mark, "best": self.best}


class OverviewRow(NamedTuple):
    """A chunker and its means."""

    mark: Mark
    chunker: str
    entries: list[Entry]


class Overview(NamedTuple):
    """The matrix of a run."""

    headline: str
    columns: list[Column]
    rows: list[OverviewRow]
    left_out: int
    """Kinds and languages that did not fit."""

    def values(self, name: str) -> list[str]:
        """Return the distinct values of a field of the columns, in order."""
        return list(dict.fromkeys(getattr(column, name) for column in self.columns))


def overview(results: Results, views: Sequence[View]) -> Overview | None:
    """Return the matrix; None if it would repeat a single column."""
    scored = [(place, view) for place, view in enumerate(views, start=1) if view.rows]
    columns: list[Column] = []
    means: list[dict[str, float | None]] = []
    left_out = 0
    for place, view in scored:
        groups = list(_groups(view))
        left_out += sum(queries == 0 for _, _, queries, _ in groups)
        for group, name, queries, members in groups:
            if queries:
                columns.append(Column(place, *view.setting, group, name, queries))
                means.append({row.chunker: _mean(view, row.chunker, members) for row in view.rows})
    if len(columns) < 2:
        return None
    headline = results.config.headline
    marked = [
        marks_beside_others(results, views[column.section - 1]) if column.group == ALL else {} for column in columns
    ]
    drawn = scored[0][1].marks
    chunkers = {name for column in means for name in column}
    names = sorted(chunkers, key=lambda name: _rank(columns, means, name, headline))
    entries = [_entries(headline, column, held) for column, held in zip(means, marked, strict=True)]
    rows = [OverviewRow(drawn[name], name, [column.get(name, _NOTHING) for column in entries]) for name in names]
    return Overview(headline, columns, rows, left_out)


_NOTHING = Entry("–", None, None, mark="", best=False)


def _groups(view: View) -> Iterator[tuple[str, str, int, np.ndarray]]:
    """Yield all queries, then each kind and each language if there are several; no queries for what is left out."""
    yield ALL, "", len(view.queries), np.ones(len(view.queries), bool)
    for group in ("kind", "language"):
        labels = np.array([getattr(query, group) or "other" for query in view.queries])
        counts = Counter(labels.tolist()).most_common()
        for k, (name, count) in enumerate(counts if len(counts) > 1 else ()):
            yield group, name, count if k < _MOST_GROUPS else 0, labels == name


def _mean(view: View, chunker: str, members: np.ndarray) -> float | None:
    row = view.row(chunker)
    if members.all():
        return row.mean(view.headline)
    values = row.cell.scores.get(view.headline)
    clusters = np.array([query.cluster for query in view.queries])
    return None if values is None else group_mean(view, values[members], clusters[members])


def _rank(
    columns: Sequence[Column], means: Sequence[dict[str, float | None]], name: str, headline: str
) -> tuple[float, str]:
    """Return the mean rank over the settings; a chunker that is missing somewhere ranks last there."""
    places = []
    sign = 1 if lower_is_better(headline) else -1
    for column, found in zip(columns, means, strict=True):
        if column.group == ALL:
            mine = found.get(name)
            others = [value for value in found.values() if value is not None]
            places.append(len(others) if mine is None else sum(sign * value < sign * mine for value in others))
    return sum(places) / len(places), name


def _entries(headline: str, means: dict[str, float | None], marked: Mapping[str, str]) -> dict[str, Entry]:
    known = [value for value in means.values() if value is not None]
    best = (min if lower_is_better(headline) else max)(known, default=0.0)
    # A column whose means are close has a single shade: small differences must not look large.
    least = _WIDE if is_share(headline) else 2 * _WIDE * abs(best)
    reach = max([least, *(abs(best - value) for value in known)]) or 1.0
    found = {}
    for name, value in means.items():
        if value is None:
            found[name] = _NOTHING
            continue
        shade = round((SHADES - 1) * max(0.0, 1 - abs(best - value) / reach))
        found[name] = Entry(score(headline, value), value, shade, mark=marked.get(name, ""), best=value == best)
    return found
