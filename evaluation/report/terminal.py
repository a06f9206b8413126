"""What a comparison prints: tables as wide as the terminal, and the answer in words."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from evaluation.report.cautions import cautions
from evaluation.report.costs import cost_legend, cost_table
from evaluation.report.fitting import in_pieces, name_lines, new_table, that_fit, width_of
from evaluation.report.formats import number, score, span, sparkline
from evaluation.report.legend import legend
from evaluation.report.overall import overall_sentences
from evaluation.report.tables import Table as TextTable
from evaluation.report.tables import kind_table
from evaluation.report.verdict import sentences, verdict
from evaluation.report.view import Row, View, views
from evaluation.results.types import Results

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

_NARROW_MEASURES = 2
"""Measures beside the headline, where not all are asked for."""
_LONGEST_NAME = 30
"""Characters of a chunker's name in one line."""
_SPARK = 10


class Screen:
    """Everything that a comparison prints: tables that fit the width they are printed in, and what they mean."""

    def __init__(self, results: Results, *, wide: bool) -> None:
        self._results, self._wide = results, wide

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield a table per dataset or setting, each followed by what failed and by what is new to its reader."""
        explained: dict[str, None] = {}
        found = views(self._results)
        together = {} if self._wide else _together(found)
        for view in found:
            group = together.get(view.setting.dataset)
            if group is not None:
                yield from _matrices(group, options.max_width) if view is group[0] else ()
            elif view.rows:
                yield from _measures(view, self._results, width=options.max_width, wide=self._wide)
                yield from _by_kind([view], options.max_width)
                yield from _costs(view, options.max_width) if self._wide else ()
            yield from _broken(view)
            last = group is None or view is group[-1]
            # What one table has explained holds for the next.
            costs = cost_legend(view) if self._wide and view.rows and cost_table(view) else []
            lines = [*legend(view), *costs] if view.rows and last else []
            new = [line for line in lines if line not in explained]
            explained |= dict.fromkeys(new)
            yield from [_dim("\n".join(new))] if new else []


def render_table(results: Results, *, wide: bool = False) -> Screen:
    """Return a table per dataset, best chunker first; wide: per setting, with as many measures as fit."""
    return Screen(results, wide=wide)


def answer(results: Results, *, wide: bool = False) -> str:
    """Return the verdict; of many settings what holds over all of them and each one's first sentence."""
    found = views(results)
    if wide or len(found) <= _FEW_SETTINGS:
        return verdict(results)
    paragraphs = [
        " ".join(overall_sentences(results, found)),
        "\n".join(f"{view.setting.title}: {sentences(view)[0]}" for view in found),
        "\n".join(f"Caution: {each}" for each in cautions(results, found)),
        "Every setting in full, with embedders and retrievers compared: --wide, summary.md and report.html.",
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


_FEW_SETTINGS = 3
"""Settings whose verdicts a screen can hold."""


def _dim(words: str) -> Text:
    from rich.text import Text

    return Text(words, style="dim")


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


def _matrices(group: Sequence[View], width: int) -> Iterator[Table | Text]:
    """Yield the headline of every chunker in every setting of one dataset, in as many tables as the width asks for."""
    yield from in_pieces(group, lambda some: _matrix(group, some), width)
    yield from _by_kind(group, width)


def _matrix(group: Sequence[View], some: Sequence[View]) -> Table:
    from rich.text import Text

    headline, embedders = group[0].headline, {view.setting.embedder for view in group if view.setting.embedder}
    title = f"{group[0].setting.dataset} · {headline}" + (f" · {next(iter(embedders))}" if len(embedders) == 1 else "")
    table = new_table(title)
    for view in some:
        below = f"\n{view.setting.embedder}" if len(embedders) > 1 and view.setting.embedder else ""
        table.add_column(view.setting.retriever + below, justify="right", no_wrap=True)
    for name in ("chunks", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = {row.chunker: row for view in reversed(group) for row in view.rows}
    for name in sorted(rows, key=lambda name: _rank(group, name)):
        cells = []
        for view in some:
            row = next((row for row in view.rows if row.chunker == name), None)
            best = row is not None and headline in row.best_in
            marks = "" if row is None else ("★" if best else " ") + (row.mark or " ")
            text = "–" if row is None else score(headline, row.mean(headline)) + marks
            cells.append(Text(text, style="bold green" if best else ""))
        chunks = rows[name].cell.chunks
        counts = (number(value or None, digits=0) for value in (chunks.count, chunks.mean_nws))
        table.add_row(name_lines(name, _LONGEST_NAME), *cells, *map(Text, counts))
    return table


def _by_kind(group: Sequence[View], width: int) -> Iterator[Table | Text]:
    """Yield the headline by kind of query, settings side by side where they fit; nothing where there is one kind."""
    found = [(view, kinds) for view in group if (kinds := kind_table(view)) is not None]
    if not found:
        return
    names = found[0][1].header[1:]
    together = _kinds(group, found, names)
    if width_of(together) <= width:
        yield together
        return
    for one in found:
        kept = that_fit(names, lambda some, one=one: _kinds(group, [one], some), width)  # type: ignore[misc] # bound now
        if kept:
            yield _kinds(group, [one], kept)
        yield from _left_out(names, kept)


def _kinds(group: Sequence[View], found: Sequence[tuple[View, TextTable]], names: Sequence[str]) -> Table:
    from rich.text import Text

    settings = " / ".join(view.setting.retriever for view, _ in found)
    table = new_table(f"by kind of query ({settings})" if len(group) > 1 else "by kind of query")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    values = [{row[0]: dict(zip(kinds.header, row, strict=True)) for row in kinds.rows} for _, kinds in found]
    for chunker in sorted({name for each in values for name in each}, key=lambda name: _rank(group, name)):
        cells = (" / ".join(each.get(chunker, {}).get(name, "–") for each in values) for name in names)
        table.add_row(name_lines(chunker, _LONGEST_NAME), *map(Text, cells))
    return table


def _costs(view: View, width: int) -> Iterator[Table | Text]:
    """Yield what every row costs, as many columns as fit; nothing where it is not known."""
    found = cost_table(view)
    if found is not None:
        places = [str(place) for place in range(1, len(found.header))]
        kept = that_fit(places, lambda some: _plain(found, some), width)
        yield _plain(found, kept)
        yield from _left_out([found.header[int(each)] for each in places], [found.header[int(each)] for each in kept])


def _plain(found: TextTable, places: Sequence[str]) -> Table:
    """Return some columns of a table of text."""
    from rich.text import Text

    table = new_table(found.title)
    for place in places:
        table.add_column(found.header[int(place)], justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(name_lines(row[0], _LONGEST_NAME), *(Text(row[int(place)]) for place in places))
    return table


def _left_out(wanted: Sequence[str], kept: Sequence[str]) -> Iterator[Text]:
    missing = [name.replace("\n", "") for name in wanted if name not in kept]
    if missing:
        yield _dim(f"Left out for want of room: {', '.join(missing)}. A wider terminal or table.csv has them.")


def _rank(group: Sequence[View], name: str) -> tuple[float, str]:
    """Return the mean place of a chunker over the settings; one that is missing somewhere stands last there."""
    places = [{row.chunker: place for place, row in enumerate(view.rows)} for view in group]
    return sum(each.get(name, len(each)) for each in places) / len(places), name


def _measures(view: View, results: Results, *, width: int, wide: bool) -> Iterator[Table | Text]:
    """Yield one setting with the measures that fit; what does not fit is named."""
    measures = view.fair[1:] + view.published if wide else view.fair[1:][:_NARROW_MEASURES]
    curve = ["reading"] if any(row.curve for row in view.rows) else []
    wanted = ["chunks", "size", "95 %", *measures, *(["p95"] if wide else []), *curve]
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
        "p95": lambda row: Text(number(row.cell.chunks.p95_nws or None, digits=0)),
        "reading": lambda row: Text(sparkline(_thinned(row.curve)), style="cyan"),
    }
    shown = {name: say for name, say in columns.items() if name in (headline, "") or name in wanted}
    for name in shown:
        words = f"recall to\n{results.budgets[-1]:,}" if name == "reading" else _heading(name)
        table.add_column(words, justify="left" if name in ("", "reading") else "right", no_wrap=True)
    for row in view.rows:
        table.add_row(name_lines(row.chunker, _LONGEST_NAME), *(say(row) for say in shown.values()))
    return table


def _interval(row: Row, measure: str) -> str:
    return span(measure, row.part(measure, "low"), row.part(measure, "high")).replace(" … ", "…")


def _marked(row: Row, measure: str) -> Text:
    """Return the mean; the best of its column carries a star, which survives a pipe where bold does not."""
    from rich.text import Text

    best = measure in row.best_in
    return Text(score(measure, row.mean(measure)) + ("★" if best else " "), style="bold green" if best else "")


def _heading(measure: str) -> str:
    """Return the name in two lines, so that a column is as narrow as its numbers."""
    return measure.replace("@", "\n@", 1)


def _thinned(values: list[float]) -> list[float]:
    if len(values) <= _SPARK:
        return values
    step = (len(values) - 1) / (_SPARK - 1)
    return [values[round(k * step)] for k in range(_SPARK)]
