"""Terminal output of a recommendation: the answer, the finalists with their costs, and what to paste."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.recommend.page import final_caption, finalists_table
from evaluation.recommend.paste import snippets
from evaluation.recommend.words import sentences
from evaluation.report.fitting import Prose, that_fit
from scripts.console import console

if TYPE_CHECKING:
    from rich.table import Table

    from evaluation.recommend.types import Recommendation
    from evaluation.report.tables import Table as TextTable

_WIDTH = 110
_SHORT = {"95 % interval": "95 %", "may be best": "best?", "index MB": "MB", "query ms p50": "ms p50"}
_SHORT |= {"all queries": "all", "unseen queries": "unseen"}


def show(made: Recommendation) -> None:
    """Print the recommendation."""
    output = console(_WIDTH)
    for sentence in sentences(made):
        output.print(Prose(sentence))
    found = finalists_table(made)
    names = [_SHORT.get(name, name) for name in found.header]
    kept = that_fit(names, lambda some: _table(found, some), output.width)
    output.print()
    output.print(Prose(f"The final, {final_caption(made)}"))
    output.print(_table(found, kept))
    if left_out := names[len(kept) :]:
        said = f"Not shown, for want of width: {', '.join(left_out)} (in --json, and in the page of --out)."
        output.print(Prose(said))
    for snippet in snippets(made.recommended, made.code):
        output.print()
        output.print(Prose(f"{snippet.title}{f' ({snippet.note})' if snippet.note else ''}:"))
        for line in snippet.code.splitlines():
            output.print(f"    {line}" if line else "", soft_wrap=True)


def _table(found: TextTable, names: Sequence[str]) -> Table:
    """Return the first columns of a table of text."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place in found.words else "right", no_wrap=True)
    for row in found.rows:
        table.add_row(*row[: len(names)])
    return table
