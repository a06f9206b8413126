"""The contract of a measure: every one, registered or plugged in, owns its meaning, and whoever shows it reads that."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
import pytest

from evaluation.experiment.ranking_depth import EVERYTHING, largest_budgets
from evaluation.measures import Measure, parse_measure
from evaluation.measures.audit import specimen
from evaluation.measures.audit_worlds import BINARY, RANKINGS, item_case
from evaluation.measures.batch import Batch
from evaluation.measures.measure import Direction, Need, RankedMeasure, Unit
from evaluation.measures.registry import MEASURES, measure_classes
from evaluation.report.formats import is_published, lower_is_better, scale, score, span, unit_words


@dataclass(frozen=True, kw_only=True)
class Depth(RankedMeasure):
    """A plug-in as a newcomer writes it: it declares what it must and nothing else."""

    label: ClassVar[str] = "depth"
    pattern: ClassVar[str] = "depth@k"
    definition: ClassVar[str] = "number of results, and one"
    citation: ClassVar[str] = "a test"

    def score(self, batch: Batch) -> np.ndarray:
        """Return values that are no shares."""
        return np.asarray(np.minimum(batch.returned, self.cutoff or np.inf) + 1.0)


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    """Yield the plug-in as if another distribution had brought it by its entry point."""
    from importlib.metadata import EntryPoint

    module = types.ModuleType("measure_of_a_newcomer")
    module.Depth = Depth  # type: ignore[attr-defined] # this is how a module gets its names
    monkeypatch.setitem(sys.modules, module.__name__, module)
    point = EntryPoint("depth", "measure_of_a_newcomer:Depth", MEASURES.group)
    monkeypatch.setattr("chunkers.plugins.entry_points", lambda *, group: [point] if group == MEASURES.group else [])
    _forget()
    yield parse_measure("depth@2")
    _forget()


def _forget() -> None:
    from evaluation.measures import registry

    for remembered in (registry._registered, registry.measure_classes, registry.measure_names):
        remembered.cache_clear()


def measures() -> list[Measure]:
    """Return one measure of every registered class, at a cutoff and at a budget."""
    return [specimen(cls, budget=4000, cutoff=5) for cls in measure_classes().values()]


def holds(measure: Measure) -> None:
    """Assert that the measure says everything that tables, verdicts and gates ask of it."""
    assert measure.unit in get_args(Unit)
    assert measure.direction in get_args(Direction)
    assert measure.range[0] < measure.range[1]
    assert isinstance(measure.comparable, bool)
    assert measure.needs <= set(get_args(Need))
    assert measure.definition
    assert measure.citation
    assert "{" not in measure.words
    assert parse_measure(measure.name) == measure
    assert (measure.budget is None) == (measure.budget_unit is None) == (not measure.budget_words)
    assert measure.cutoff is None or measure.budget is None
    if measure.unit == "share":
        assert measure.range[0] >= 0
    values = measure.score(Batch([item_case(ranking, BINARY) for ranking in RANKINGS[:6]], [measure]))
    low, high = measure.range
    assert np.all(np.isnan(values) | ((values >= low) & (values <= high + 1e-9)))


@pytest.mark.parametrize("measure", measures(), ids=lambda measure: measure.name)
def test_every_measure_owns_its_meaning(measure: Measure) -> None:
    """Unit, direction, range, cutoff or budget, comparability and words are there, and the values keep to them."""
    holds(measure)


def test_a_plug_in_owns_its_meaning_too(plugged: Measure) -> None:
    """A measure from elsewhere keeps the same contract with what it declares and the safe defaults for the rest."""
    holds(plugged)
    assert is_published(plugged)


@pytest.mark.usefixtures("plugged")
def test_a_plug_in_with_values_2_and_3_prints_2_and_3() -> None:
    """What declares no unit is a plain number: not multiplied, not in points, whatever its name looks like."""
    assert [score("depth@2", value) for value in (2.0, 3.0, 2.5, -0.123456)] == ["2", "3", "2.5", "−0.123"]
    assert span("depth@2", 2.0, 3.0) == "2 … 3"
    assert (scale("depth@2"), unit_words("depth@2")) == (1.0, "")


def test_what_is_shown_follows_the_declaration() -> None:
    """Shares are in points, sizes in their unit, correlations as they are; the protocol follows comparability."""
    assert (score("ndcg@10", 0.5), unit_words("ndcg@10")) == ("50.0", "points")
    assert (score("tokens_to_recall(0.8)", 1234.4), unit_words("tokens_to_recall(0.8)")) == ("1,234", "tokens")
    assert (score("kendall_tau", -1 / 3), unit_words("kendall_tau")) == ("−0.333", "")
    assert lower_is_better("split_rate")
    published = {measure.pattern for measure in measures() if is_published(measure)}
    assert {"ndcg@k", "recall@k", "chroma_recall@k", "redundancy@k", "ild@k"} <= published
    assert not published & {"naurc@B", "recall@B", "file_recall@k", "file_rr", "split_rate", "tokens_to_recall(r)"}


def test_words_say_what_a_value_means() -> None:
    """The sentence for a table's legend names the budget or the results, and no formula."""
    assert parse_measure("recall@4000tok").words == (
        "of the code that answers, the share shown once 4,000 tokens are read"
    )
    assert parse_measure("precision@1").words == "of the first 1 result, the share that is relevant"
    assert parse_measure("lines_to_recall(0.8)").words == (
        "lines read until 80% of the code that answers has been shown"
    )


@pytest.mark.parametrize(
    ("names", "tokens"),
    [
        (["ndcg@10", "relevant", "split_rate", "tokens_behind@5"], 8000),
        (["naurc@20000tok", "recall@100"], 20_000),
        (["naurc@4000tok", "recall@101"], EVERYTHING),
        (["mrr"], EVERYTHING),
        (["tokens_to_recall(0.8)"], EVERYTHING),
        (["file_rr"], EVERYTHING),
    ],
)
def test_rankings_are_kept_as_deep_as_any_measure_looks(names: list[str], tokens: int) -> None:
    """A measure over all results, or over more than are always kept, sees them whatever the budgets of others are."""
    chosen = [parse_measure(name) for name in names]
    assert largest_budgets(chosen, [250, 8000])["tokens"] == tokens
