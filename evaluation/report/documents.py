"""Tables to paste elsewhere: Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from chunkers.plain_text import csv_cell, shown
from evaluation.report.cautions import cautions
from evaluation.report.costs import cost_legend, cost_table, index_sentences
from evaluation.report.formats import plural
from evaluation.report.legend import legend
from evaluation.report.other_axes import axis_sentences
from evaluation.report.overall import OVERALL_LEGEND, overall_sentences, overall_table
from evaluation.report.tables import (
    Table,
    comparison_table,
    csv_rows,
    group_tables,
    health_table,
    published_table,
    ranking_table,
)
from evaluation.report.verdict import sentences
from evaluation.report.view import View
from evaluation.results.types import Results

WHY_NOT_COMPARABLE = (
    "Every chunker makes its own chunks, so what counts as relevant, and how much text stands behind one rank, differs "
    "from row to row. These numbers compare with the literature, not with each other: read each beside its chance "
    "level in brackets, the score of a random ranking of the same chunks."
)


_LONGEST = 60_000
"""Maximum number of characters of a summary: a comment on a pull request can hold 65,536."""


def markdown(results: Results, views: list[View]) -> str:
    """Return the summary: the answer first, then the ranking per setting, with the other tables collapsed.

    If it would be too long for a comment on a pull request, the collapsed tables are omitted, with a note.
    """
    text = _summary(results, views, folded=True)
    return text if len(text) <= _LONGEST else _summary(results, views, folded=False)


def _summary(results: Results, views: list[View], *, folded: bool) -> str:
    parts = ["# chunkbench summary"]
    overview = overall_table(results)
    if overview is not None:
        parts += [f"**Verdict.** {_md(' '.join(overall_sentences(results, views)))}"]
        parts += [_markdown_table(overview), _md(OVERALL_LEGEND)]
    notes = ["\n".join(f"- {_md(each)}" for each in (*axis_sentences(results), *index_sentences(views)))]
    notes += ["\n".join(f"- Caution: {_md(each)}" for each in cautions(results, views))]
    parts += notes if len(views) > 1 else []
    for view in views:
        parts += [f"## {_md(view.setting.title)}"]
        parts += [f"{plural(len(view.queries), 'query')}, {plural(view.repositories, 'repository')}."]
        parts += [f"**Verdict.** {_md(' '.join(sentences(view)))}", *(notes if len(views) == 1 else [])]
        if view.rows:
            parts += [_markdown_table(ranking_table(view)), _md(" ".join(legend(view)))]
            parts += map(_markdown_table, group_tables(view))
            parts += list(_folded(view)) if folded else []
        if view.failed:
            parts += ["### Failed", *(f"- {_md(cell.key.chunker)}: {_md(cell.reason)}" for cell in view.failed)]
    if not folded:
        parts += ["Costs, chunk ids, comparisons and losses are left out for their length: report.html has them."]
    return "\n\n".join(part for part in parts if part) + "\n"


def _folded(view: View) -> Iterator[str]:
    """Yield the tables that are collapsed by default."""
    yield "<details><summary>Cost, chunk ids, comparisons and losses</summary>"
    if (cost := cost_table(view)) is not None:
        yield from (_markdown_table(cost), _md(" ".join(cost_legend(view))))
    if view.published:
        yield from (_markdown_table(published_table(view)), WHY_NOT_COMPARABLE)
    yield from (_markdown_table(comparison_table(view)), _markdown_table(health_table(view)))
    yield "</details>"


def csv_text(views: list[View]) -> str:
    """Return one unrounded line per cell and measure."""
    header, rows = csv_rows(views)
    return _csv(header, rows)


def comparisons_csv(views: list[View]) -> str:
    """Return one unrounded line per comparison of the headline measure."""
    rows = [
        {**view.setting._asdict(), "measure": view.headline, **row.row()} for view in views for row in view.comparisons
    ]
    header = list(dict.fromkeys(name for row in rows for name in row))
    return _csv(header, rows)


def _csv(header: list[str], rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _md(text: str) -> str:
    """Return text escaped for Markdown."""
    # A newline would end a table row.
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(shown(text).splitlines()))


def _markdown_table(table: Table) -> str:
    lines = [f"### {table.title}", ""]
    lines += ["| " + " | ".join(map(_md, table.header)) + " |"]
    lines += ["|" + "|".join(" :-- " if k in table.words else " --: " for k in range(len(table.header))) + "|"]
    for r, row in enumerate(table.rows):
        cells = [f"**{_md(cell)}**" if (r, c) in table.best else _md(cell) for c, cell in enumerate(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
