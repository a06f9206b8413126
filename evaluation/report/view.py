"""The data behind every kind of report: per setting, the chunkers from best to worst with all facts about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig
from evaluation.measures.declared import recall
from evaluation.report.figures.marks import Mark, marks
from evaluation.report.formats import is_published, lower_is_better, measure_of
from evaluation.results.facts import DatasetRecord
from evaluation.results.types import BestRecord, CellRecord, ComparisonRecord, QueryRecord, Results
from evaluation.statistics import BestSet, Comparison, Weight
from evaluation.statistics.samples import weighted_means

MAY_BE_BEST, STAR = "●", "★"


class Setting(NamedTuple):
    """What is held constant while chunkers are compared."""

    dataset: str
    embedder: str
    """Empty if the retriever uses no vectors."""
    retriever: str

    @property
    def title(self) -> str:
        """The setting in one line."""
        return " · ".join(part for part in self if part)


@dataclass(frozen=True)
class Row:
    """One chunker in one setting."""

    chunker: str
    cell: CellRecord
    mark: str
    """Whether it may be the best, or the mark of its comparison with the baseline."""
    best_in: frozenset[str]
    """Measures on gold text in which no chunker has a better mean; chunk ids give no order between chunkers."""
    curve: tuple[float, ...] = ()
    """Mean recall at each budget; empty if the run has no curve."""

    def mean(self, measure: str) -> float | None:
        """Return the mean of a measure, or its median if that is its summary; None if there is neither."""
        mean = self.part(measure, "mean")
        return self.part(measure, "median") if mean is None else mean

    def part(self, measure: str, name: str) -> float | None:
        """Return the mean, median, low, high or other_mean of a measure."""
        summary = self.cell.measures.get(measure)
        value: float | None = getattr(summary, name) if summary else None
        return value


@dataclass(frozen=True)
class View:
    """One setting, ready to be displayed."""

    setting: Setting
    headline: str
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    """From best to worst by the headline measure."""
    failed: tuple[CellRecord, ...]
    comparisons: tuple[Comparison, ...]
    """Of the headline measure."""
    reading: tuple[Comparison, ...]
    """Of the share of the answer that has been read at the headline's budget."""
    best: BestSet | None
    """Which may be best in the headline measure; None if there is nothing to compare."""
    queries: tuple[QueryRecord, ...]
    dataset: DatasetRecord | None
    config: ExperimentConfig
    marks: Mapping[str, Mark]
    """Chunker → its mark, in this and every other setting of the run."""
    alone: bool
    """Whether it is the only setting of the run."""

    @property
    def noun(self) -> str:
        """What its rows are called: chunkers, runs if all are external places, contestants if both."""
        kinds = {cell.key.is_span_run for cell in (*(row.cell for row in self.rows), *self.failed)}
        return "chunker" if kinds <= {False} else "run" if kinds == {True} else "contestant"

    @property
    def baseline(self) -> str | None:
        """The chunker that all others are compared with, if one was named and scored."""
        named = self.config.baseline
        return named if named in {row.chunker for row in self.rows} else None

    @property
    def mined(self) -> bool:
        """Whether the queries were made from the code itself rather than asked by people."""
        return self.dataset is not None and self.dataset.mined

    @property
    def fair(self) -> list[str]:
        """Measures on gold text, which all chunkers share, headline first."""
        found = [name for name in self.measures if not is_published(name) and name != self.headline]
        return [self.headline, *found]

    @property
    def published(self) -> list[str]:
        """Measures on chunk ids."""
        return [name for name in self.measures if is_published(name) and name != self.headline]

    @property
    def repositories(self) -> int:
        """The number of repositories that the queries come from."""
        return len({query.cluster for query in self.queries})

    def row(self, chunker: str) -> Row:
        """Return the row of a chunker."""
        return next(row for row in self.rows if row.chunker == chunker)

    @property
    def recall_name(self) -> str | None:
        """The measure of what has been read at the headline's budget; None if it was not scored."""
        name = f"recall@{measure_of(self.headline).cut}"
        return name if name in self.measures and not is_published(name) else None

    def comparison(self, first: str, second: str) -> Comparison | None:
        """Return the comparison of two chunkers in the headline measure, as `find_pair` does."""
        return find_pair(self.comparisons, first, second)


def find_pair(comparisons: Sequence[Comparison], first: str, second: str) -> Comparison | None:
    """Return the comparison of two chunkers oriented so that ``a`` is the first; None if it was not made."""
    for row in comparisons:
        if (row.a, row.b) == (first, second):
            return row
        if (row.a, row.b) == (second, first):
            return row.turned()
    return None


def views(results: Results, *, drawn: Mapping[str, Mark] | None = None) -> list[View]:
    """Return one view per setting, in the order of the cells; settings that differ in an unused embedder are merged.

    ``drawn`` assigns marks to chunkers where other runs are shown beside this one.
    """
    recall(results.own_measures)
    # A failed cell does not know whether it would have used vectors; its retriever's other cells do.
    lexical = {cell.key.retriever for cell in results.cells if cell.status == "ok" and not cell.search.uses_vectors}
    groups: dict[Setting, list[CellRecord]] = {}
    for cell in (cell for cell in results.cells if not cell.key.is_span_run):
        key = cell.key
        setting = Setting(key.dataset, "" if key.retriever in lexical else key.embedder, key.retriever)
        groups.setdefault(setting, []).append(cell)
    for cell in (cell for cell in results.cells if cell.key.is_span_run):
        # A span run has no embedder and no retriever: it is shown beside the chunkers of every setting of its dataset.
        own = Setting(cell.key.dataset, "", "")
        for setting in [each for each in groups if each.dataset == own.dataset] or [own]:
            groups.setdefault(setting, []).append(cell)
    drawn = drawn or chunker_marks(results)
    alone = len(groups) == 1
    return [_view(results, setting, cells, drawn=drawn, alone=alone) for setting, cells in groups.items()]


def chunker_marks(*runs: Results) -> dict[str, Mark]:
    """Return each chunker's mark: by the order of the experiments, whatever the scores are."""
    return marks(name for run in runs for name in (*run.config.chunkers, *(cell.key.chunker for cell in run.cells)))


def _view(
    results: Results, setting: Setting, mine: Sequence[CellRecord], *, drawn: Mapping[str, Mark], alone: bool
) -> View:
    headline = results.config.headline
    # Cells that differ only in an unused embedder are the same: the first represents all.
    cells = list({cell.key.chunker: cell for cell in reversed(mine)}.values())[::-1]
    scored = [cell for cell in cells if cell.status == "ok"]
    measures = tuple(dict.fromkeys(name for cell in scored for name in cell.measures))
    if scored and headline not in measures:
        raise UsageError(
            f"headline measure {headline!r} was not scored on {setting.dataset}: choose one of {', '.join(measures)}"
        )
    first = next((cell.key for cell in scored if not cell.key.is_span_run), scored[0].key if scored else None)
    where = (setting.dataset, first.embedder, first.retriever, headline) if first else None
    read = (*where[:3], f"recall@{measure_of(headline).cut}") if where else None
    comparisons, reading = (
        tuple(record.found for record in results.comparisons if place and _place(record) == place)
        for place in (where, read)
    )
    best = next((record.found for record in results.best if where and _place(record) == where), None)
    sign = 1 if lower_is_better(headline) else -1
    clusters = results.clusters_of(setting.dataset)
    plain = [
        Row(cell.key.chunker, cell, "", frozenset(), _curve(cell, clusters, results.config.weight)) for cell in scored
    ]
    plain.sort(key=lambda row: (row.mean(headline) is None, sign * (row.mean(headline) or 0.0), row.chunker))
    # Alone in its setting, a chunker is not the best of anything.
    top = _best(plain, [name for name in measures if not is_published(name)]) if len(plain) > 1 else {}
    view = View(
        setting=setting,
        headline=headline,
        measures=measures,
        rows=tuple(plain),
        failed=tuple(cell for cell in cells if cell.status != "ok"),
        comparisons=comparisons,
        reading=reading,
        best=best,
        queries=results.queries_of(setting.dataset),
        dataset=next((each for each in results.datasets if each.name == setting.dataset), None),
        config=results.config,
        marks=drawn,
        alone=alone,
    )
    rows = tuple(
        replace(
            row,
            mark=_mark(view, row.chunker),
            best_in=frozenset(name for name, leaders in top.items() if row.chunker in leaders),
        )
        for row in plain
    )
    return replace(view, rows=rows)


def _curve(cell: CellRecord, clusters: Sequence[str], weight: Weight) -> tuple[float, ...]:
    """Return the mean recall at each budget, averaged as the scores are."""
    return () if cell.curve is None else tuple(weighted_means(cell.curve.T, clusters, weight=weight).tolist())


def _place(record: ComparisonRecord | BestRecord) -> tuple[str, str, str, str] | None:
    """Return where chunkers were compared, and in what; None for another axis."""
    return (record.dataset, record.embedder, record.retriever, record.measure) if record.axis == "chunker" else None


def _best(rows: Sequence[Row], measures: Sequence[str]) -> dict[str, set[str]]:
    """Return which has the best mean of each measure; several if they tie."""
    found: dict[str, set[str]] = {}
    for measure in (name for name in measures if measure_of(name).direction != "none"):
        means = {row.chunker: mean for row in rows if (mean := row.mean(measure)) is not None}
        top = (min if lower_is_better(measure) else max)(means.values(), default=None)
        found[measure] = {name for name, mean in means.items() if mean == top}
    return found


def _mark(view: View, chunker: str) -> str:
    """Return ● for one that may be best; against a baseline ▲ better, ▼ worse, ≈ practically the same, ? undecided."""
    if measure_of(view.headline).direction == "none":
        return ""
    if view.baseline is None:
        return MAY_BE_BEST if view.best and chunker in view.best.may_be_best else ""
    if chunker == view.baseline:
        return "base"
    found = view.comparison(chunker, view.baseline)
    if found is None:
        return ""
    if found.shown:
        return "▲" if found.better == chunker else "▼"
    return "≈" if found.decision == "practically the same" else "?"
