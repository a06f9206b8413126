"""Chance levels: the closed forms are the simulated means."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from chunkers.sizes import Ruler
from evaluation.measures import aggregate, evaluate, parse_measure, uncovered
from evaluation.measures.chance import chance_corrected, chance_level, closed_form
from evaluation.types import Case, TextCase, TextSpan

IDS = ["a", "b", "c", "d", "e", "f"]
LABELS = "ndcg ndcg_exp precision precision_returned recall hit mrr map ap_capped".split()


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(("cutoff", "depth"), [(3, 6), (5, 4), (1, 6)])
def test_closed_forms_are_exact(label: str, cutoff: int, depth: int) -> None:
    """The closed form is the mean over every ranking there is."""
    measure = parse_measure(f"{label}@{cutoff}")
    grades: dict[str, float] = {"a": 2, "b": 1, "c": 1, "d": 0}
    rankings = sorted(set(permutations(IDS, depth)))
    scores = evaluate([measure], [Case(str(i), r, grades) for i, r in enumerate(rankings)])
    mean = np.mean([row[measure.name] for row in scores.values()])
    assert closed_form(measure, Case("q", [], grades), population=6, depth=depth) == pytest.approx(mean, abs=1e-9)


def test_thresholds_and_queries_without_relevant_chunks() -> None:
    """A threshold changes what is relevant; with nothing relevant the chance level is 0."""
    case = Case("q", [], {"a": 2, "b": 1})
    assert chance_level(parse_measure("precision@2(rel>=2)"), case, IDS) == pytest.approx(1 / 6)
    assert chance_level(parse_measure("hit@3"), Case("q", [], {}), IDS) == 0


def test_measures_without_a_closed_form_are_simulated() -> None:
    """Recall of text at half of the text is one half by chance, and the same seed gives the same value."""
    spans = [TextSpan(0, start, start + 10) for start in range(0, 60, 10)]
    text = TextCase([], [TextSpan(0, 10, 20)], {"tokens": [Ruler(np.arange(60))]})
    measure, case = parse_measure("recall@30tok"), Case("q", [], {}, text)
    level = chance_level(measure, case, IDS, spans=spans, samples=2000)
    assert level == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(2000))
    assert level == chance_level(measure, case, IDS, spans=spans, samples=2000)


def test_the_corrected_value_has_chance_at_0_and_perfection_at_1() -> None:
    """Where chance is already perfect nothing can be said."""
    assert chance_corrected(0.25, 0.25) == 0
    assert chance_corrected(1.0, 0.25) == 1
    assert math.isnan(chance_corrected(1.0, 1.0))


def test_the_summary_counts_what_is_undefined_and_uncovered() -> None:
    """The mean is over the defined values; a query with nothing relevant counts, as 0."""
    cases = [Case("a", IDS, {"a": 1}), Case("b", IDS, {}), Case("c", ["a"], {"a": 1})]
    scores = evaluate([parse_measure("mrr"), parse_measure("kendall_tau_grades")], cases)
    summary = aggregate(scores, uncovered=uncovered(cases))
    assert summary["mrr"].mean == pytest.approx(2 / 3)
    tau = summary["kendall_tau_grades"]
    assert (tau.n_total, tau.n_scored, tau.n_undefined, tau.n_uncovered) == (3, 1, 2, 1)
