"""A recommendation on the terminal: the answer, the finalists with their costs, and what to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.recommend.paste import snippets
from evaluation.recommend.words import sentences
from evaluation.report.formats import number, score, span
from scripts.console import console

if TYPE_CHECKING:
    from evaluation.recommend.types import Cost, Recommendation

_WIDTH = 110


def show(made: Recommendation) -> None:
    """Print the recommendation."""
    from rich.table import Table

    output = console(_WIDTH)
    for sentence in sentences(made):
        output.print(sentence)
    table = Table(box=None, pad_edge=False)
    table.add_column("finalist", overflow="fold")
    for name in (made.measure, "95 %", "risk", *_costs(made, made.best.cost)):
        table.add_column(name, justify="right")
    for each in made.finalists:
        mark = "→ " if each.spec == made.recommended else "  "
        cells = (
            score(made.measure, each.mean.mean) + (" ●" if each.may_be_best else "  "),
            span(made.measure, each.mean.low, each.mean.high),
            score(made.measure, each.final_risk),
        )
        table.add_row(mark + each.spec, *cells, *_costs(made, each.cost).values())
    current = made.current
    if current is not None and current.mean is not None and current.cost is not None and current.change is not None:
        cells = (
            score(made.measure, current.mean.mean) + "  ",
            span(made.measure, current.mean.low, current.mean.high),
            "–",
        )
        table.add_row(f"  {current.spec} (in use)", *cells, *_costs(made, current.cost).values())
    output.print()
    output.print(table)
    output.print("● may be best; risk: what another finalist may be better by (95 %)")
    output.print()
    for snippet in snippets(made.recommended):
        output.print(f"{snippet.title}{f' ({snippet.note})' if snippet.note else ''}:")
        for line in snippet.code.splitlines():
            output.print(f"    {line}", soft_wrap=True)


def _costs(made: Recommendation, cost: Cost) -> dict[str, str]:
    """Return column → value."""
    shown = {"chunks": f"{cost.chunks:,}", "nws": f"{cost.mean_nws:,.0f}", "tokens": f"{cost.tokens:,}"}
    shown["index MB"] = number(cost.index_mb)
    if made.embedder:
        shown["min to embed"] = number(cost.embed_minutes)
    if made.price is not None:
        shown["price"] = number(cost.price, digits=2)
    shown["ms p50"], shown["p95"] = number(cost.query_p50_ms), number(cost.query_p95_ms)
    return shown
