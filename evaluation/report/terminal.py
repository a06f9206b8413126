"""The terminal output of a comparison: the answer in words, and tables as wide as the terminal."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from evaluation.report.costs import cost_legend, cost_table, index_sentences
from evaluation.report.fitting import Prose, Trimmed, in_pieces, name_lines, new_table, that_fit, to_the_right, width_of
from evaluation.report.formats import number, score, span, sparkline
from evaluation.report.glance import facts
from evaluation.report.legend import column_legend, legend, mark_words
from evaluation.report.opening import answer, fact_lines, opening
from evaluation.report.other_axes import axis_sentences
from evaluation.report.overall import marks_beside_others, marks_legend
from evaluation.report.tables import GROUPS, Group, group_table
from evaluation.report.tables import Table as TextTable
from evaluation.report.verdict import axes_alone, where
from evaluation.report.view import STAR, Row, View, views
from evaluation.results.types import Results

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

_NARROW_MEASURES = 2
"""Measures beside the headline, unless all are requested."""
_LONGEST_NAME = 30
"""Maximum characters of a chunker's name in one line."""
_SPARK = 10
_CURVE = "reading curve"


class Screen:
    """Everything that a comparison prints: the answer first, then tables that fit the width."""

    def __init__(self, results: Results, *, wide: bool, words: bool) -> None:
        self._results, self._wide, self._words = results, wide, words

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the parts, without trailing spaces."""
        found = views(self._results)
        yield from map(Trimmed, opening(self._results, found, wide=self._wide) if self._words else ())
        yield from map(Trimmed, self._tables(found, options.max_width))
        yield from map(Trimmed, self._closing(found) if self._words else ())

    def _tables(self, found: Sequence[View], width: int) -> Iterator[RenderableType]:
        """Yield a table per dataset or setting, each followed by its failures and by explanations that are new."""
        explained: dict[str, None] = {}
        together = {} if self._wide else _together(found)
        for view in found:
            group = together.get(view.setting.dataset)
            if group is not None:
                yield from _matrices(group, self._results, width) if view is group[0] else ()
            elif view.rows:
                yield from _of_one_setting(view) if self._wide and self._words and len(found) > 1 else ()
                yield from _measures(view, self._results, width=width, wide=self._wide)
                yield from _by_group([view], width)
                yield from _costs(view, width) if self._wide else ()
            yield from _broken(view)
            last = group is None or view is group[-1]
            # What is explained below one table holds for the next.
            new = [line for line in self._legend(view, group) if line not in explained] if view.rows and last else []
            explained |= dict.fromkeys(new)
            yield from (Prose(line, style="dim") for line in new)
            yield from [""] if new else []

    def _legend(self, view: View, group: Sequence[View] | None) -> list[str]:
        """Return what the columns and marks of a table mean; if nothing precedes it, also the chance level."""
        marks = mark_words(view) if group is None else marks_legend(self._results, view)
        about = column_legend(view, chunk_ids=self._wide and bool(view.published)) if self._words else legend(view)
        costs = cost_legend(view) if self._wide and cost_table(view) else []
        return list(dict.fromkeys([*about, *marks, *costs]))

    def _closing(self, found: Sequence[View]) -> Iterator[RenderableType]:
        """Yield the value of an index and the other axes in full, or where to find more."""
        yield from map(Prose, index_sentences(found))
        if self._wide and len(found) > 1 and not axes_alone(self._results, found):
            yield from map(Prose, axis_sentences(self._results))
        elif not self._wide:
            yield Prose(_MORE_SETTINGS if len(found) > 1 else _MORE, style="dim")


_MORE = "More: --wide (all measures, costs), report.html (figures, every query)."
_MORE_SETTINGS = "More: --wide (each setting by itself, all measures, costs), report.html (figures, every query)."


def render_screen(results: Results, *, wide: bool = False) -> Screen:
    """Return the answer and a table per dataset, best chunker first; ``wide``: per setting, all measures that fit."""
    return Screen(results, wide=wide, words=True)


def render_table(results: Results, *, wide: bool = False) -> Screen:
    """Return the tables alone."""
    return Screen(results, wide=wide, words=False)


def _of_one_setting(view: View) -> Iterator[RenderableType]:
    """Yield the statements about one of several settings, above its tables."""
    yield Prose(f"{where(view)}:")
    yield from answer(view)
    yield from fact_lines(facts(view))
    yield ""


def _broken(view: View) -> Iterator[Text]:
    from rich.text import Text

    for row in view.rows:
        if row.cell.chunks.failed_files:
            yield Text(f"not cut by {row.chunker}: {row.cell.chunks.failed_words}", style="red")
    for cell in view.failed:
        yield Text(f"failed: {cell.key.chunker}: {cell.reason}", style="red")


def _together(found: Sequence[View]) -> dict[str, list[View]]:
    """Return the settings of each dataset that are shown as columns of one table."""
    groups: dict[str, list[View]] = {}
    for view in found:
        if view.rows:
            groups.setdefault(view.setting.dataset, []).append(view)
    return {dataset: group for dataset, group in groups.items() if len(group) > 1}


def _matrices(group: Sequence[View], results: Results, width: int) -> Iterator[RenderableType]:
    """Yield the headline of every chunker in every setting of one dataset, in as many tables as the width requires."""
    yield from in_pieces(group, lambda some: _matrix(group, results, some), width)
    yield from _by_group(group, width)


def _matrix(group: Sequence[View], results: Results, some: Sequence[View]) -> Table:
    from rich.text import Text

    headline, embedders = group[0].headline, {view.setting.embedder for view in group if view.setting.embedder}
    title = f"{group[0].setting.dataset} · {headline}" + (f" · {next(iter(embedders))}" if len(embedders) == 1 else "")
    table = new_table(title)
    rows = {row.chunker: row for view in reversed(group) for row in view.rows}
    names = sorted(rows, key=lambda name: _rank(group, name))
    columns = []
    for view in some:
        below = f"\n{view.setting.embedder}" if len(embedders) > 1 and view.setting.embedder else ""
        marked, mine = marks_beside_others(results, view), {row.chunker: row for row in view.rows}
        cells = [_beside_others(mine.get(name), headline, marked.get(name, "")) for name in names]
        table.add_column(to_the_right(view.setting.retriever + below, cells), no_wrap=True)
        columns.append(cells)
    for name in ("chunks", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, *cells in zip(names, *columns, strict=True):
        chunks = rows[name].cell.chunks
        counts = (number(value or None, digits=0) for value in (chunks.count, chunks.mean_nws))
        table.add_row(name_lines(name, _LONGEST_NAME), *cells, *map(Text, counts))
    return table


def _beside_others(row: Row | None, headline: str, mark: str) -> Text:
    from rich.text import Text

    if row is None:
        return Text("–  ")
    best = headline in row.best_in
    words = score(headline, row.mean(headline)) + (STAR if best else " ") + mark.ljust(1)
    return Text(words, style="bold green" if best else "")


def _by_group(views: Sequence[View], width: int) -> Iterator[RenderableType]:
    """Yield the headline by kind and by category of query, settings side by side if they fit.

    Nothing if there is one group.
    """
    for by in GROUPS:
        found = [(view, groups) for view in views if (groups := group_table(view, by)) is not None]
        if found:
            yield from _fitted(views, found, by, width)


def _fitted(
    views: Sequence[View], found: Sequence[tuple[View, TextTable]], by: Group, width: int
) -> Iterator[RenderableType]:
    names = found[0][1].header[1:]
    together = _groups(views, found, by, names)
    if width_of(together) <= width:
        yield together
        return
    for one in found:
        kept = that_fit(names, lambda some, one=one: _groups(views, [one], by, some), width)  # type: ignore[misc] # bound now
        if kept:
            yield _groups(views, [one], by, kept)
        yield from _left_out(names, kept)


def _groups(views: Sequence[View], found: Sequence[tuple[View, TextTable]], by: Group, names: Sequence[str]) -> Table:
    from rich.text import Text

    several = len({view.setting.embedder for view in views if view.setting.embedder}) > 1
    parts = ([view.setting.embedder if several else "", view.setting.retriever] for view, _ in found)
    settings = " / ".join(" · ".join(filter(None, part)) for part in parts)
    table = new_table(f"by {by} of query ({settings})" if len(views) > 1 else f"by {by} of query")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    values = [{row[0]: dict(zip(groups.header, row, strict=True)) for row in groups.rows} for _, groups in found]
    for chunker in sorted({name for each in values for name in each}, key=lambda name: _rank(views, name)):
        cells = (" / ".join(each.get(chunker, {}).get(name, "–") for each in values) for name in names)
        table.add_row(name_lines(chunker, _LONGEST_NAME), *map(Text, cells))
    return table


def _costs(view: View, width: int) -> Iterator[RenderableType]:
    """Yield the cost of every row, as many columns as fit; nothing if unknown."""
    found = cost_table(view)
    if found is not None:
        places = [str(place) for place in range(1, len(found.header))]
        kept = that_fit(places, lambda some: _plain(found, some), width)
        yield _plain(found, kept)
        yield from _left_out([found.header[int(each)] for each in places], [found.header[int(each)] for each in kept])


def _plain(found: TextTable, places: Sequence[str]) -> Table:
    """Return selected columns of a table of text."""
    from rich.text import Text

    table = new_table(found.title)
    for place in places:
        table.add_column(found.header[int(place)], justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(name_lines(row[0], _LONGEST_NAME), *(Text(row[int(place)]) for place in places))
    return table


def _left_out(wanted: Sequence[str], kept: Sequence[str]) -> Iterator[RenderableType]:
    missing = [name.replace("\n", "") for name in wanted if name not in kept]
    if missing:
        yield Prose(f"Left out for want of room: {', '.join(missing)}. A wider terminal or report.html has them.")
        yield ""


def _rank(group: Sequence[View], name: str) -> tuple[float, str]:
    """Return the mean rank of a chunker over the settings; one that is missing somewhere ranks last there."""
    places = [{row.chunker: place for place, row in enumerate(view.rows)} for view in group]
    return sum(each.get(name, len(each)) for each in places) / len(places), name


def _measures(view: View, results: Results, *, width: int, wide: bool) -> Iterator[RenderableType]:
    """Yield one setting with the measures that fit; the others are named."""
    measures = view.fair[1:] + view.published if wide else view.fair[1:][:_NARROW_MEASURES]
    curve = [_CURVE] if any(row.curve for row in view.rows) else []
    wanted = ["chunks", "size", "95 %", *measures, *(["p95 size"] if wide else []), *curve]
    kept = that_fit(wanted, lambda some: _table(view, results, some), width)
    yield _table(view, results, kept)
    yield from _left_out(wanted, kept)


def _table(view: View, results: Results, wanted: Sequence[str]) -> Table:
    from rich.text import Text

    table, headline = new_table(view.setting.title), view.headline
    columns: dict[str, Callable[[Row], Text]] = {
        headline: lambda row: _marked(row, headline),
        "95 %": lambda row: Text(_interval(row, headline), style="dim"),
        "": lambda row: Text(row.mark),
        **{name: functools.partial(_marked, measure=name) for name in wanted if name in view.measures},
        "chunks": lambda row: Text(number(row.cell.chunks.count or None, digits=0)),
        "size": lambda row: Text(number(row.cell.chunks.mean_nws or None, digits=0)),
        "p95 size": lambda row: Text(number(row.cell.chunks.p95_nws or None, digits=0)),
        _CURVE: lambda row: Text(sparkline(_thinned(row.curve)), style="cyan"),
    }
    shown = {name: say for name, say in columns.items() if name in (headline, "") or name in wanted}
    made = []
    for name, say in shown.items():
        cells = [say(row) for row in view.rows]
        words = f"recall to\n{results.budgets[-1]:,}" if name == _CURVE else _heading(name)
        # Cells with marks behind their numbers are padded here: a justified cell loses its trailing spaces.
        table.add_column(words if name in ("", _CURVE) else to_the_right(words, cells), no_wrap=True)
        made.append(cells)
    for row, *cells in zip(view.rows, *made, strict=True):
        table.add_row(name_lines(row.chunker, _LONGEST_NAME), *cells)
    return table


def _interval(row: Row, measure: str) -> str:
    return span(measure, row.part(measure, "low"), row.part(measure, "high")).replace(" … ", "…")


def _marked(row: Row, measure: str) -> Text:
    """Return the mean; the best of its column gets a star, which survives a pipe, unlike bold."""
    from rich.text import Text

    best = measure in row.best_in
    return Text(score(measure, row.mean(measure)) + (STAR if best else " "), style="bold green" if best else "")


def _heading(measure: str) -> str:
    """Return the name in two lines, so that a column is as narrow as its numbers."""
    return measure.replace("@", "\n@", 1).replace("p95 size", "p95\nsize")


def _thinned(values: Sequence[float]) -> Sequence[float]:
    if len(values) <= _SPARK:
        return values
    step = (len(values) - 1) / (_SPARK - 1)
    return [values[round(k * step)] for k in range(_SPARK)]
