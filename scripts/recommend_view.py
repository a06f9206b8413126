"""A recommendation on the terminal: the answer, the finalists with their costs, and what to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.recommend.page import finalists_table
from evaluation.recommend.paste import snippets
from evaluation.recommend.words import sentences
from scripts.console import console

if TYPE_CHECKING:
    from evaluation.recommend.types import Recommendation

_WIDTH = 110
_SHORT = {"95 % interval": "95 %", "may be best": "best?", "index MB": "MB", "query ms p50": "ms p50"}
_SHORT |= {"all queries": "all", "unseen queries": "unseen"}


def show(made: Recommendation) -> None:
    """Print the recommendation."""
    from rich.table import Table

    output = console(_WIDTH)
    for sentence in sentences(made):
        output.print(sentence)
    found = finalists_table(made)
    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(found.header):
        table.add_column(_SHORT.get(name, name), justify="left" if place in found.words else "right", no_wrap=not place)
    for row in found.rows:
        table.add_row(*row)
    output.print()
    output.print(
        f"The final, {made.measure}: means of all queries, which decide, and of unseen ones, which no round had asked; "
        "risk: what another finalist may be better by (95 %)"
    )
    output.print(table)
    for snippet in snippets(made.recommended, made.code):
        output.print()
        output.print(f"{snippet.title}{f' ({snippet.note})' if snippet.note else ''}:")
        for line in snippet.code.splitlines():
            output.print(f"    {line}" if line else "", soft_wrap=True)
