"""The table at the end of a comparison, as wide as a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.report.formats import number, score, span, sparkline
from evaluation.report.legend import legend
from evaluation.report.view import Row, View, views
from evaluation.results.types import Results

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

_NARROW_MEASURES = 2
"""Measures beside the headline that fit 100 columns."""
_SPARK = 10


def render_table(results: Results, *, wide: bool = False) -> Group:
    """Return a table per setting, best chunker first; narrow ones fit 100 columns, wide ones show every measure."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Table | Text] = []
    explained: dict[str, None] = {}
    for view in views(results):
        if view.rows:
            parts.append(_table(view, results, wide=wide))
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
            new = [line for line in legend(view) if line not in explained]
            explained |= dict.fromkeys(new)
            parts.extend([Text("\n".join(new), style="dim")] if new else [])
    return Group(*parts)


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
