"""Quality against cost, with the Pareto front of the chunkers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evaluation.report.figures.frontier import cost_figure, frontier
from evaluation.report.formats import joined, lower_is_better
from evaluation.report.sections import Figure, points_table, score_points
from evaluation.report.view import View
from evaluation.results.facts import CostFacts

_Cost = Callable[[CostFacts], float | None]
_AXES: dict[str, _Cost] = {
    "bytes of the index": lambda cost: cost.index_bytes,
    "price of embedding": lambda cost: cost.price,
    "seconds to build the index": lambda cost: cost.build_seconds,
}
"""What is plotted against the score."""


def cost_figures(view: View) -> Iterator[tuple[str, Figure]]:
    """Yield a figure for each cost in which the chunkers differ."""
    less = lower_is_better(view.headline)
    for cost, of in _AXES.items():
        points = score_points(view, {row.chunker: of(row.cell.cost) or 0.0 for row in view.rows})
        if len({point.x for point in points}) < 2:
            continue
        front = [point.name for point in frontier(points, lower_is_better=less)]
        caption = (
            f"Mean {view.headline} against {cost}, with 95 % intervals. The dashed steps join the chunkers that have a "
            f"better mean than every cheaper one: {joined(front)}. The intervals say whether that is more than chance. "
            "Marks that would cover each other stand side by side."
        )
        wide, narrow = (
            cost_figure(points, cost=cost, measure=view.headline, lower_is_better=less, narrow=narrow)
            for narrow in (False, True)
        )
        yield f"Quality against {cost}", Figure(wide, narrow, caption, points_table(view, points, cost))
