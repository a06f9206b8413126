"""Tables for a paper: booktabs, as wide as a column, with captions, labels, units and marks, and no local paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from chunkers.plain_text import shown
from evaluation.report.costs import cost_table
from evaluation.report.formats import MINUS, is_share, measure_of, unit_words
from evaluation.report.legend import mark_words
from evaluation.report.overall import OVERALL_LEGEND, overall_table
from evaluation.report.tables import Table, group_table, published_table, ranking_table
from evaluation.report.view import MAY_BE_BEST, View
from evaluation.results.types import Results

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "…": r"\ldots{}"}
_LATEX |= {character: "\\" + character for character in "&%$#_{}"}
_LATEX |= {"–": "--", MINUS: "$-$", "★": r"$\star$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$"}
_LATEX |= {MAY_BE_BEST: r"$\bullet$", "≈": r"$\approx$", "·": r"$\cdot$", "✓": r"$\checkmark$", "×": r"$\times$"}
_WIDTHS = {1: 345.0, 2: 240.0}
"""Columns of a page → points in one of them, in the article class and the usual two-column classes."""
_CHARACTER, _GAP = 4.0, 6.0
"""Points of a character in small print, and between two columns."""
_LONGEST_NAME = 22


def latex(results: Results, views: Sequence[View], *, columns: int = 1) -> str:
    """Return the tables; one that is too wide is split, each part with the chunkers and some of the columns."""
    overview = overall_table(results)
    parts = []
    if overview is not None:
        parts += _tables(overview, f"{overview.title}. {OVERALL_LEGEND}", "all", columns)
    for place, view in enumerate((each for each in views if each.rows), start=1):
        found = {
            "ranking": ranking_table(view),
            "kinds": group_table(view, "kind"),
            "categories": group_table(view, "category"),
            "published": published_table(view) if view.published else None,
            "cost": cost_table(view),
        }
        for name, table in found.items():
            if table is not None:
                said = f"{table.title}: {view.setting.title}. {_words(view, name)}"
                parts += _tables(table, said, f"{place}-{name}", columns)
    return "% needs \\usepackage{booktabs,amssymb,graphicx}\n" + "\n".join(parts)


def _words(view: View, name: str) -> str:
    """Return what the numbers are, and what the marks of the ranking mean."""
    measure = measure_of(view.headline)
    unit = "Shares in points of 100. " if is_share(measure) else f"In {unit_words(measure) or 'plain numbers'}. "
    return (unit + " ".join(mark_words(view) if name == "ranking" else [])).strip() if name != "cost" else ""


def _tables(table: Table, caption: str, label: str, columns: int) -> list[str]:
    pieces = _split(table, _WIDTHS[columns])
    made = []
    for k, piece in enumerate(pieces, start=1):
        more = f" ({k} of {len(pieces)})" if len(pieces) > 1 else ""
        ending = f"-{k}" if len(pieces) > 1 else ""
        made.append(_table(piece, caption + more, f"tab:chunkbench-{label}{ending}"))
    return made


def _split(table: Table, width: float) -> list[Table]:
    """Split the table into pieces that fit, each with the first column."""
    held = zip(table.header, *table.rows, strict=True)
    letters = [max(_letters(cell, name=k == 0) for cell in cells) for k, cells in enumerate(held)]
    widths = [_CHARACTER * most + _GAP for most in letters]
    pieces: list[list[int]] = [[]]
    for column in range(1, len(table.header)):
        used = widths[0] + sum(widths[each] for each in pieces[-1])
        if pieces[-1] and used + widths[column] > width:
            pieces.append([])
        pieces[-1].append(column)
    return [_columns(table, [0, *piece]) for piece in pieces]


def _columns(table: Table, chosen: Sequence[int]) -> Table:
    return replace(
        table,
        header=[table.header[column] for column in chosen],
        rows=[[row[column] for column in chosen] for row in table.rows],
        best={(row, chosen.index(column)) for row, column in table.best if column in chosen},
        words={chosen.index(column) for column in table.words if column in chosen},
    )


def _letters(cell: str, *, name: bool) -> int:
    """Return the number of characters of a cell's longest line."""
    return max(map(len, _lines(cell, name=name)), default=0)


def _lines(cell: str, *, name: bool) -> list[str]:
    """Break a heading into lines, and a long chunker's name into two."""
    if "@" in cell and not name:
        return cell.replace("@", "\n@", 1).split("\n")
    if name and len(cell) > _LONGEST_NAME and ":" in cell:
        return cell.replace(":", ":\n", 1).split("\n")
    return [cell]


def _stacked(cell: str, *, name: bool, side: str) -> str:
    lines = _lines(without_paths(cell), name=name)
    if len(lines) == 1:
        return tex(lines[0])
    below = r" \\ ".join(map(tex, lines))
    return rf"\shortstack[{side}]{{{below}}}"


def tex(text: str) -> str:
    """Return text escaped for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in " ".join(shown(text).splitlines()))


def without_paths(text: str) -> str:
    """Return the text with local paths reduced to their last part."""
    return re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[/\\][^\s,;/\\]*)*[/\\]([^\s,;/\\]+)", r"\1", text)


def _table(table: Table, caption: str, label: str) -> str:
    columns = "".join("l" if k in table.words else "r" for k in range(len(table.header)))
    heads = [_stacked(name, name=False, side="l" if k in table.words else "r") for k, name in enumerate(table.header)]
    lines = [r"\begin{table}", r"\centering\footnotesize\setlength{\tabcolsep}{3pt}"]
    lines += [rf"\caption{{{tex(without_paths(caption))}}}", rf"\label{{{label}}}"]
    # Whatever the fonts, the table is never wider than the text.
    lines += [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"]
    lines += [rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
    for r, row in enumerate(table.rows):
        cells = [_stacked(cell, name=c == 0, side="l") for c, cell in enumerate(row)]
        cells = [rf"\textbf{{{cell}}}" if (r, c) in table.best else cell for c, cell in enumerate(cells)]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}", ""])
