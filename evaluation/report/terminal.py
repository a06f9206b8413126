"""The table at the end of a comparison, as wide as a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.report.costs import cost_legend, cost_table
from evaluation.report.formats import number, score, span, sparkline
from evaluation.report.legend import legend
from evaluation.report.tables import kind_table
from evaluation.report.view import Row, View, views
from evaluation.results.types import Results

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

_NARROW_MEASURES = 2
"""Measures beside the headline that fit 100 columns."""
_MOST_COLUMNS = 6
"""Settings that fit beside each other."""
_SPARK = 10


def render_table(results: Results, *, wide: bool = False) -> Group:
    """Return a table per dataset, best chunker first, within 100 columns; wide: per setting, with every measure."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Table | Text] = []
    explained: dict[str, None] = {}
    found = views(results)
    together = {} if wide else _together(found)
    for view in found:
        if view.setting.dataset in together:
            group = together[view.setting.dataset]
            if view is group[0]:
                parts.append(_matrix(group))
                parts.extend(_by_kind(group))
        elif view.rows:
            parts.append(_table(view, results, wide=wide))
            parts.extend(_by_kind([view]))
            parts.extend(_costs(view) if wide else ())
        parts.extend(
            Text(f"not cut by {row.chunker}: {row.cell.chunks.failed_words}", style="red", overflow="fold")
            for row in view.rows
            if row.cell.chunks.failed_files
        )
        parts.extend(
            Text(f"failed: {cell.key.chunker}: {cell.reason}", style="red", overflow="fold") for cell in view.failed
        )
        if view.rows:
            # What one table has explained holds for the next.
            lines = [*legend(view), *(cost_legend(view) if wide and cost_table(view) else ())]
            new = [line for line in lines if line not in explained]
            explained |= dict.fromkeys(new)
            parts.extend([Text("\n".join(new), style="dim")] if new else [])
    return Group(*parts)


def _together(found: Sequence[View]) -> dict[str, list[View]]:
    """Return the settings of each dataset that are shown as columns of one table."""
    groups: dict[str, list[View]] = {}
    for view in found:
        if view.rows:
            groups.setdefault(view.setting.dataset, []).append(view)
    return {dataset: group for dataset, group in groups.items() if 1 < len(group) <= _MOST_COLUMNS}


def _matrix(group: Sequence[View]) -> Table:
    """Return the headline of every chunker in every setting of one dataset, best mean first."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    headline, embedders = group[0].headline, {view.setting.embedder for view in group if view.setting.embedder}
    title = f"{group[0].setting.dataset} · {headline}" + (f" · {next(iter(embedders))}" if len(embedders) == 1 else "")
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.add_column("chunker", overflow="fold", max_width=36)
    for view in group:
        below = f"\n{view.setting.embedder}" if len(embedders) > 1 and view.setting.embedder else ""
        table.add_column(view.setting.retriever + below, justify="right", no_wrap=True)
    for name in ("chunks", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = {row.chunker: row for view in reversed(group) for row in view.rows}
    for name in sorted(rows, key=lambda name: _rank(group, name)):
        cells = []
        for view in group:
            row = next((row for row in view.rows if row.chunker == name), None)
            best = row is not None and headline in row.best_in
            text = (
                "–" if row is None else score(headline, row.mean(headline)) + ("★" if best else " ") + (row.mark or " ")
            )
            cells.append(Text(text, style="bold green" if best else ""))
        chunks = rows[name].cell.chunks
        table.add_row(
            Text(name),
            *cells,
            Text(number(chunks.count or None, digits=0)),
            Text(number(chunks.mean_nws or None, digits=0)),
        )
    return table


def _by_kind(group: Sequence[View]) -> list[Table]:
    """Return the headline by kind of query, all settings in one column; nothing where there is one kind."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = [(view, kinds) for view in group if (kinds := kind_table(view)) is not None]
    if not found:
        return []
    settings = " / ".join(view.setting.retriever for view, _ in found)
    title = f"by kind of query ({settings})" if len(found) > 1 else "by kind of query"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.add_column("chunker", overflow="fold", max_width=36)
    header = found[0][1].header
    for name in header[1:]:
        table.add_column(name, justify="right")
    for name in sorted({row[0] for _, kinds in found for row in kinds.rows}, key=lambda name: _rank(group, name)):
        rows = [next((row for row in kinds.rows if row[0] == name), [name, *["–"] * len(header)]) for _, kinds in found]
        table.add_row(Text(name), *(Text(" / ".join(row[k] for row in rows)) for k in range(1, len(header))))
    return [table]


def _costs(view: View) -> list[Table]:
    """Return what every row costs; nothing where it is not known."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = cost_table(view)
    if found is None:
        return []
    table = Table(box=box.SIMPLE_HEAD, title=found.title, title_justify="left", pad_edge=False)
    for place, name in enumerate(found.header):
        table.add_column(name, justify="left" if place in found.words else "right", no_wrap=place > 0)
    for row in found.rows:
        table.add_row(*map(Text, row))
    return [table]


def _rank(group: Sequence[View], name: str) -> tuple[float, str]:
    """Return the mean place of a chunker over the settings; one that is missing somewhere stands last there."""
    places = [{row.chunker: place for place, row in enumerate(view.rows)} for view in group]
    return sum(each.get(name, len(each)) for each in places) / len(places), name


def _table(view: View, results: Results, *, wide: bool) -> Table:
    from rich import box
    from rich.table import Table

    extra = view.fair[1:] + view.published if wide else view.fair[1:][:_NARROW_MEASURES]
    table = Table(box=box.SIMPLE_HEAD, title=view.setting.title, title_justify="left", pad_edge=False)
    table.collapse_padding = True
    table.add_column("chunker", overflow="fold", no_wrap=False, max_width=None if wide else 36)
    table.add_column(_heading(view.headline), justify="right", no_wrap=True)
    table.add_column("95 %", justify="right", no_wrap=True, style="dim")
    table.add_column("", no_wrap=True)
    for name in extra:
        table.add_column(_heading(name), justify="right", no_wrap=True)
    table.add_column("chunks", justify="right", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    if wide:
        table.add_column("p95", justify="right", no_wrap=True)
    if any(row.curve for row in view.rows):
        table.add_column("reading" if not wide else f"recall to {results.budgets[-1]:,}", no_wrap=True)
    for row in view.rows:
        table.add_row(*_cells(row, view, extra, wide=wide))
    return table


def _cells(row: Row, view: View, extra: list[str], *, wide: bool) -> list[Text]:
    from rich.text import Text

    chunks = row.cell.chunks
    headline = view.headline
    cells = [
        Text(row.chunker),
        _marked(row, headline),
        Text(span(headline, row.part(headline, "low"), row.part(headline, "high")).replace(" … ", "…")),
        Text(row.mark),
        *(_marked(row, name) for name in extra),
        # A span run has no chunks.
        Text(number(chunks.count or None, digits=0)),
        Text(number(chunks.mean_nws or None, digits=0)),
    ]
    if wide:
        cells.append(Text(number(chunks.p95_nws or None, digits=0)))
    if any(other.curve for other in view.rows):
        cells.append(Text(sparkline(_thinned(row.curve)), style="cyan"))
    return cells


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
