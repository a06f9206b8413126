"""The verdict claims what the comparisons carry, and nothing else."""

from __future__ import annotations

import dataclasses
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from evaluation.report.formats import is_published, measure_of, number, p_value, plural, sparkline
from evaluation.report.verdict import claim, verdict
from evaluation.report.view import views
from evaluation.results.types import Results

_CASE = runpy.run_path(str(Path(__file__).with_name("report_case.py")))
simulated_results: Callable[..., Results] = _CASE["simulated_results"]


def test_a_shown_best_is_named_with_its_size_and_its_p() -> None:
    """When the best differs from every other, the verdict says so with difference, interval, p and correction."""
    said = verdict(simulated_results(edges=(0.3, 0.0, 0.05, -0.1)))
    assert "cast:size=2000 is best." in said
    assert "within 4,000 tokens: naurc@4000tok is " in said
    assert "over 8 repositories, corrected for 6 comparisons" in said


def test_no_difference_is_called_best_when_none_is_shown() -> None:
    """Equal chunkers give "no difference can be shown" and which difference could have been shown."""
    said = verdict(simulated_results(edges=(0.0, 0.0, 0.0, 0.0)))
    assert "No difference between any of the 4 chunkers can be shown." in said
    assert "points or more could have been shown" in said
    assert "is best" not in said


def test_a_leader_that_is_not_shown_against_all_is_not_called_best() -> None:
    """The best mean with an open comparison is named together with those it may equal."""
    said = verdict(simulated_results())
    assert "cast:size=2000 has the best mean, but no difference from functions can be shown." in said
    assert "What is shown: " in said
    assert "is best" not in said


def test_few_repositories_limit_the_claim() -> None:
    """Below six repositories the verdict speaks of queries and says that it holds for these repositories only."""
    said = verdict(simulated_results(repositories=3))
    assert "64 queries of 3 repositories" in said
    assert "holds for these 3 repositories only" in said


def test_a_baseline_is_what_the_others_are_compared_with() -> None:
    """With a baseline, each shown difference from it is a sentence, and the family is the smaller one."""
    said = verdict(simulated_results(baseline="fixed-lines:lines=50"))
    assert "than fixed-lines:lines=50 within 4,000 tokens" in said
    assert "fixed-lines:lines=50 reads more of the answer, earlier, than sliding" in said
    assert "corrected for 3 comparisons" in said


def test_failures_and_single_chunkers_are_said() -> None:
    """A failed chunker is named; one chunker, or none, is not compared."""
    said = verdict(simulated_results(failed={"broken": "no grammar"}))
    assert "1 chunker failed and is left out: broken." in said
    alone = simulated_results(names=("cast",), edges=(0.1,))
    assert "Only cast was scored" in verdict(alone)
    nothing = dataclasses.replace(alone, cells=tuple(dataclasses.replace(c, status="failed") for c in alone.cells))
    assert "Nothing was scored" in verdict(nothing)


def test_several_settings_are_told_apart() -> None:
    """Each embedder has a verdict of its own, and the lack of a correction over settings is said."""
    said = verdict(simulated_results(embedders=("minilm", "bge")))
    assert said.count("8 repositories; ") == 2
    assert "not for the number of settings" in said


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([-0.2, -0.05, 0.0, 0.05, 0.2]), min_size=2, max_size=4), st.integers(0, 50))
def test_the_verdict_never_contradicts_the_comparisons(edges: list[float], seed: int) -> None:
    """The words "is best" appear exactly when every comparison of the leader is shown."""
    names = [f"c{k}" for k in range(len(edges))]
    results = simulated_results(names=names, edges=edges, queries=24, repositories=8, seed=seed)
    view = views(results)[0]
    leader = view.rows[0].chunker
    pairs = [view.comparison(leader, row.chunker) for row in view.rows[1:]]
    assert (f"{leader} is best" in verdict(results)) == all(pair is not None and pair.shown for pair in pairs)


def test_a_measure_without_a_budget_and_one_where_less_is_better_are_worded() -> None:
    """The sentence names the measure and its direction when there is no phrase for it."""
    row = simulated_results().comparisons[0].found
    said = claim("recall@4000tok", dataclasses.replace(row, difference=0.031, low=0.012, high=0.05))
    assert said.startswith(
        "cast:size=2000 reads 3.1 points (1.2 … 5.0) more of the answer than fixed-lines:lines=50 within"
    )
    less = claim("split_rate", dataclasses.replace(row, difference=-0.1, low=-0.2, high=-0.05))
    assert less.startswith("split_rate of cast:size=2000 is 10.0 points (5.0 … 20.0) lower")


def test_a_headline_that_was_not_scored_is_refused() -> None:
    """A report about a measure that the run does not have names those it has."""
    results = simulated_results()
    with pytest.raises(UsageError, match="choose one of naurc@4000tok"):
        verdict(dataclasses.replace(results, config=results.config.model_copy(update={"headline": "ndcg@99"})))


def test_numbers_read_well() -> None:
    """Signs, p-values, plurals, budgets and sparklines are as a person writes them."""
    assert [number(-0.04), number(-1.26), number(3.0, signed=True), number(None)] == ["0.0", "−1.3", "+3.0", "–"]
    assert [p_value(p) for p in (0.00001, 0.002, 0.0312, 0.333, 1.0)] == [
        "p < 0.0001",
        "p = 0.002",
        "p = 0.031",
        "p = 0.33",
        "p = 1",
    ]
    assert plural(1, "query") + plural(2, "repository") == "1 query2 repositories"
    assert measure_of("recall@4000tok").budget_words == "4,000 tokens"
    assert is_published("recall@5")
    assert not is_published("recall@4000tok")
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
