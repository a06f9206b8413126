"""What every kind of report shows: per setting, the chunkers from best to worst with what is known about each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from evaluation.report.formats import is_published, lower_is_better
from evaluation.results.types import CellRecord, QueryRecord, Results
from evaluation.statistics import Comparison, letter_display


class Setting(NamedTuple):
    """What is held equal while chunkers are compared."""

    dataset: str
    embedder: str
    retriever: str

    @property
    def title(self) -> str:
        """The setting in one line."""
        return " · ".join(self)


@dataclass(frozen=True)
class Row:
    """One chunker in one setting."""

    chunker: str
    cell: CellRecord
    group: str
    """Significance letters, or the mark of its comparison with the baseline."""
    best_in: frozenset[str]
    """Measures on gold text in which no chunker has a better mean; chunk ids give no order between chunkers."""

    def mean(self, measure: str) -> float | None:
        """Return the mean of a measure, or its median where that is what sums it up; None where there is neither."""
        mean = self.part(measure, "mean")
        return self.part(measure, "median") if mean is None else mean

    def part(self, measure: str, name: str) -> float | None:
        """Return the mean, median, low or high of a measure."""
        summary = self.cell.measures.get(measure)
        value: float | None = getattr(summary, name) if summary else None
        return value

    @property
    def curve(self) -> list[float]:
        """Mean recall at each budget; empty where the run has no curve."""
        return [] if self.cell.curve is None else [float(v) for v in np.nanmean(self.cell.curve, axis=0)]


@dataclass(frozen=True)
class View:
    """One setting, ready to be shown."""

    setting: Setting
    headline: str
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    """From best to worst by the headline measure."""
    failed: tuple[CellRecord, ...]
    comparisons: tuple[Comparison, ...]
    """Of the headline measure."""
    queries: tuple[QueryRecord, ...]
    baseline: str | None
    mined: bool
    """Whether the queries were made from the code itself rather than asked by people."""

    @property
    def fair(self) -> list[str]:
        """Measures on gold text, which all chunkers share, the headline first."""
        found = [name for name in self.measures if not is_published(name) and name != self.headline]
        return [self.headline, *found]

    @property
    def published(self) -> list[str]:
        """Measures on chunk ids."""
        return [name for name in self.measures if is_published(name) and name != self.headline]

    @property
    def repositories(self) -> int:
        """How many repositories the queries come from."""
        return len({query.cluster for query in self.queries})

    def comparison(self, first: str, second: str) -> Comparison | None:
        """Return the comparison of two chunkers turned so that ``a`` is the first; None where it was not made."""
        for row in self.comparisons:
            if (row.a, row.b) == (first, second):
                return row
            if (row.a, row.b) == (second, first):
                return row.turned()
        return None


def views(results: Results) -> list[View]:
    """Return one view per setting, in the order of the cells."""
    settings = dict.fromkeys(Setting(c.key.dataset, c.key.embedder, c.key.retriever) for c in results.cells)
    return [_view(results, setting) for setting in settings]


def _view(results: Results, setting: Setting) -> View:
    headline = results.config.headline
    cells = [c for c in results.cells if (c.key.dataset, c.key.embedder, c.key.retriever) == setting]
    scored = [c for c in cells if c.status == "ok"]
    measures = tuple(dict.fromkeys(name for c in scored for name in c.measures))
    if scored and headline not in measures:
        raise UsageError(
            f"headline measure {headline!r} was not scored on {setting.dataset}: choose one of {', '.join(measures)}"
        )
    comparisons = tuple(
        row.found
        for row in results.comparisons
        if (row.dataset, row.embedder, row.retriever, row.measure) == (*setting, headline)
    )
    sign = 1 if lower_is_better(headline) else -1
    plain = [Row(c.key.chunker, c, "", frozenset()) for c in scored]
    plain.sort(key=lambda row: (sign * (row.mean(headline) or 0.0), row.chunker))
    baseline = results.config.baseline
    groups = _groups([row.chunker for row in plain], comparisons, lower=lower_is_better(headline))
    best = _best(plain, [name for name in measures if not is_published(name)])
    rows = tuple(
        Row(row.chunker, row.cell, groups.get(row.chunker, ""), frozenset(m for m in best if row.chunker in best[m]))
        for row in plain
    )
    return View(
        setting=setting,
        headline=headline,
        measures=measures,
        rows=rows,
        failed=tuple(c for c in cells if c.status != "ok"),
        comparisons=comparisons,
        queries=results.queries_of(setting.dataset),
        baseline=baseline,
        mined=any(each.mined for each in results.datasets if each.name == setting.dataset),
    )


def _best(rows: Sequence[Row], measures: Sequence[str]) -> dict[str, set[str]]:
    """Return who has the best mean of each measure; several when they tie."""
    found: dict[str, set[str]] = {}
    for measure in measures:
        means = {row.chunker: mean for row in rows if (mean := row.mean(measure)) is not None}
        top = (min if lower_is_better(measure) else max)(means.values(), default=None)
        found[measure] = {name for name, mean in means.items() if mean == top}
    return found


def _groups(ranked: Sequence[str], comparisons: Sequence[Comparison], *, lower: bool) -> dict[str, str]:
    """Return letters when all pairs were compared, else ▲ better, ▼ worse, = not shown against the baseline."""
    if not comparisons:
        return {}
    if len(comparisons) == len(ranked) * (len(ranked) - 1) // 2 and len({row.b for row in comparisons}) > 1:
        return letter_display(ranked, [(row.a, row.b) for row in comparisons if row.shown])
    if len(ranked) == 2:
        return letter_display(ranked, [(row.a, row.b) for row in comparisons if row.shown])
    better = -1 if lower else 1
    marks = {row.a: "=" if not row.shown else "▲" if better * row.difference > 0 else "▼" for row in comparisons}
    return {**marks, comparisons[0].b: "base"}
