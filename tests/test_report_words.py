"""The facts, legends and cost sentences beside an answer carry the numbers of the run, each in its unit."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
from report_case import simulated_results

from evaluation.report.fitting import Prose
from evaluation.report.formats import basis, decimals, joined, named, scale, unit_words, with_unit
from evaluation.report.glance import asked_words, facts, level_words, overall_facts
from evaluation.report.legend import column_legend, legend, mark_words
from evaluation.report.opening import fact_lines, opening
from evaluation.report.power import detectable, power_words
from evaluation.report.view import View, views
from evaluation.results.comparisons import with_statistics
from evaluation.results.facts import Truncation
from evaluation.results.types import Results
from evaluation.statistics.types import Unit, Weight

HEADLINE = "naurc@4000tok"
MEDIAN = "tokens_to_recall(0.8)"


@functools.cache
def _run(headline: str = HEADLINE, retrievers: tuple[str, ...] = ("dense",), baseline: str | None = None) -> Results:
    names = ("a", "b", "c")
    return simulated_results(
        names=names, edges=(0.3, 0.0, -0.1), headline=headline, retrievers=retrievers, baseline=baseline
    )


def _view(results: Results) -> View:
    (view,) = views(results)
    return view


def _cells(results: Results, part: str, *values: Any) -> Results:
    """Return the results with this part in each of the first cells, or with these fields of it."""
    cells = list(results.cells)
    for place, value in enumerate(values):
        old = getattr(cells[place], part)
        cells[place] = dataclasses.replace(
            cells[place], **{part: dataclasses.replace(old, **value) if isinstance(value, dict) else value}
        )
    return dataclasses.replace(results, cells=tuple(cells))


def _fact(results: Results, name: str) -> str:
    found = views(results)
    known = facts(found[0]) if len(found) == 1 else overall_facts(results, found)
    return next((fact.words for fact in known if fact.name == name), "")


def test_an_amount_has_the_unit_of_its_measure() -> None:
    """Shares are points, texts are counted in their unit, and one token is not one tokens; plain numbers are bare."""
    assert [with_unit("ndcg@5", value) for value in (0.01, 0.0312)] == ["1.0 points", "3.1 points"]
    assert [with_unit(MEDIAN, value) for value in (1.0, 2.0, 1420.4)] == ["1 token", "2 tokens", "1,420 tokens"]
    assert [with_unit("kendall_tau", value) for value in (1234.0, 100.0, 12.34)] == ["1,234", "100", "12.3"]
    assert with_unit("nws_to_recall(0.5)", 12) == "12 non-whitespace characters"
    assert [with_unit(name, 1.0) for name in ("kendall_tau", "relevant")] == ["1", "1"]
    assert [unit_words(name) for name in ("ndcg@5", MEDIAN, "ild@5", "relevant")] == ["points", "tokens", "", ""]
    assert [scale(name) for name in ("ndcg@5", MEDIAN, "ild@5", "relevant")] == [100, 1, 1, 1]
    assert [decimals(name) for name in ("ndcg@5", MEDIAN, "ild@5", "relevant")] == [1, 0, 3, 0]


def test_a_phrase_carries_six_names() -> None:
    """Of seven the first five, and that there are two more."""
    assert named("abcdef") == "a, b, c, d, e and f"
    assert named("abcdefg") == "a, b, c, d, e and 2 more"
    assert named("abc", "or", most=2) == "a or 2 more"
    assert joined(["a", "b", "c"], "or") == "a, b or c"


@pytest.mark.parametrize(
    ("unit", "weight", "repositories", "said"),
    [
        ("repository", "repository", 8, "each of 8 repositories counting once"),
        ("repository", "query", 8, "over 64 queries of 8 repositories, each query counting once"),
        ("query", "repository", 3, "over 64 queries of 3 repositories, each repository counting once"),
        ("query", "repository", 1, "over 64 queries of 1 repository"),
        ("query", "query", 2, "over 64 queries of 2 repositories, each query counting once"),
    ],
)
def test_what_a_mean_is_over_is_said(unit: Unit, weight: Weight, repositories: int, said: str) -> None:
    """One repository has nothing to count once."""
    best = _view(_run()).best
    assert best is not None
    assert basis(dataclasses.replace(best, unit=unit, weight=weight, n_clusters=repositories)) == said


def test_what_the_run_could_show_is_half_with_four_times_as_many_repositories() -> None:
    """Only where something is left open, and only of repositories: more queries would be another design."""
    view = _view(_run())
    assert view.best is not None
    assert detectable(view) == view.best.detectable
    points = 100 * view.best.detectable
    assert power_words(view) == f"a true difference of {points:.1f} points, four times in five"
    a, b = view.rows[0].chunker, view.rows[1].chunker
    open_best = dataclasses.replace(view.best, may_be_best=(a, b))
    wide = tuple(dataclasses.replace(row, low=-0.2, high=0.2) for row in view.comparisons)
    some = dataclasses.replace(view, best=open_best, comparisons=wide)
    more = f"; with 32 repositories like these, one of {points / 2:.1f}"
    assert power_words(some) == power_words(view) + more
    queries = dataclasses.replace(some, best=dataclasses.replace(open_best, unit="query"))
    assert power_words(queries) == power_words(view)
    # Only what is open among those that may be best counts.
    settled = tuple(
        dataclasses.replace(row, low=-0.001, high=0.001) if {row.a, row.b} == {a, b} else row for row in wide
    )
    assert power_words(dataclasses.replace(some, comparisons=settled)) == power_words(view)
    for unknown in (None, dataclasses.replace(view.best, detectable=math.nan)):
        assert power_words(dataclasses.replace(view, best=unknown)) == ""
        assert math.isnan(detectable(dataclasses.replace(view, best=unknown)))


def test_against_a_baseline_the_run_could_show_the_median_of_its_comparisons() -> None:
    """Comparisons that say nothing of it are left out; what is open against the baseline is open."""
    view = _view(_run(baseline="b"))
    known = [0.02, 0.05]
    rows = tuple(dataclasses.replace(row, detectable=least) for row, least in zip(view.comparisons, known, strict=True))
    assert detectable(dataclasses.replace(view, comparisons=rows)) == pytest.approx(np.median(known))
    one = (rows[0], dataclasses.replace(rows[1], detectable=math.nan))
    assert detectable(dataclasses.replace(view, comparisons=one)) == pytest.approx(0.02)
    none = tuple(dataclasses.replace(row, detectable=math.nan) for row in rows)
    assert math.isnan(detectable(dataclasses.replace(view, comparisons=none)))
    assert "repositories like these" not in power_words(view)
    wide = tuple(dataclasses.replace(row, low=-0.2, high=0.2) for row in rows)
    assert "; with 32 repositories like these, one of 1.8" in power_words(dataclasses.replace(view, comparisons=wide))
    shown = (wide[0], dataclasses.replace(rows[1], low=0.1, high=0.2))
    assert "repositories like these" in power_words(dataclasses.replace(view, comparisons=shown))


@pytest.mark.parametrize("level", ["chance", "ceiling"])
def test_chance_and_ceiling_are_the_range_over_the_chunkers(level: str) -> None:
    """One number where all have the same; nothing where no chunker has it, and no sentence where one of both lacks."""
    results = _run()

    def words(*values: float | None) -> str:
        held = [{level: {} if value is None else {HEADLINE: value, "x": 0.99}} for value in values]
        return level_words([_view(_cells(results, "judgements", *held))], level)

    assert words(0.2, 0.1, 0.3) == "10.0 to 30.0"
    assert words(0.2, None, 0.2) == "20.0"
    assert words(None, None, None) == ""
    both = _cells(results, "judgements", *[{"chance": {HEADLINE: 0.1}, "ceiling": {HEADLINE: 0.9}}] * 3)
    assert _fact(both, "Between chance and ceiling") == "random ranking 10.0, perfect ranking 90.0"
    assert "(random ranking 10.0, perfect ranking 90.0)." in legend(_view(both))[0]
    one = _cells(both, "judgements", *[{level: {}}] * 3)
    assert _fact(one, "Between chance and ceiling") == ""
    assert "ranking 9" not in legend(_view(one))[0]
    assert "ranking 1" not in legend(_view(one))[0]


@pytest.mark.parametrize(
    ("shares", "fact", "line"),
    [
        ((None, None, None), "", ""),
        ((0.0, 0.0, 0.0), "nothing", ""),
        ((0.0004, 0.0, None), "nothing", "0.0"),
        ((0.02, 0.02, 0.02), "2.0 % of the tokens", "2.0"),
        ((0.02, 0.5, 0.1), "2.0 to 50.0 % of the tokens", "2.0 to 50.0"),
    ],
)
def test_what_the_embedder_does_not_see_is_a_range(shares: tuple[float | None, ...], fact: str, line: str) -> None:
    """Nothing is said of a retriever without a limit."""
    held = [{"truncated": None if share is None else Truncation(0.9, share)} for share in shares]
    results = _cells(_run(), "search", *held)
    assert _fact(results, "Not seen by the embedder") == fact
    said = [each for each in legend(_view(results)) if "does not see" in each]
    assert said == ([f"minilm does not see {line} % of the tokens."] if line else [])


def test_what_is_compared_names_the_mean_and_what_it_is_over() -> None:
    """Queries that were mined are called so; a median is over queries; each weight has its words."""
    results = _run()
    assert _fact(results, "What is compared") == (
        "naurc@4000tok: mean, each repository counting once; 64 queries of 8 repositories"
    )
    (dataset,) = results.datasets
    mined = dataclasses.replace(results, datasets=(dataclasses.replace(dataset, mined=True),))
    assert asked_words(_view(mined)) == "64 mined queries"
    assert _fact(_run(MEDIAN), "What is compared") == f"{MEDIAN}: median over queries; 64 queries of 8 repositories"
    by_query = dataclasses.replace(results, config=results.config.model_copy(update={"weight": "query"}))
    assert "mean, each query counting once" in _fact(by_query, "What is compared")


def test_facts_of_all_settings_are_over_all_of_them() -> None:
    """Who may be best, what has been read, over what, what one setting could show, chance, and what is unseen."""
    results = _run(retrievers=("dense", "bm25"))
    found = views(results)
    assert results.overall is not None
    first = overall_facts(results, found)[0]
    assert (first.name, first.chunkers) == ("May be best in every setting", results.overall.may_be_best)
    assert _fact(results, "What is compared") == (
        "naurc@4000tok in 2 settings: means, each repository counting once; 64 queries of 8 repositories"
    )
    least = sorted(100 * view.best.detectable for view in found if view.best)
    assert _fact(results, "What one setting could show") == (
        f"a true difference of {least[0]:.1f} to {least[1]:.1f} points, four times in five"
    )
    scores = [0.2, 0.4, 0.6, 0.8, 0.9, 0.5]
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, "recall@4000tok": np.full(64, share)})
        for cell, share in zip(results.cells, scores, strict=True)
    ]
    read = with_statistics(dataclasses.replace(results, cells=tuple(cells)))
    plain = "once you have read 4,000 tokens, 20 to 90 % of the code that answers a question has been shown"
    assert _fact(read, "In plain words") == plain
    same = [dataclasses.replace(cell, scores={**cell.scores, "recall@4000tok": np.full(64, 0.7)}) for cell in cells]
    equal = with_statistics(dataclasses.replace(results, cells=tuple(same)))
    assert ", 70 % of the code" in _fact(equal, "In plain words")
    chance = _cells(results, "judgements", {"chance": {HEADLINE: 0.01}})
    assert _fact(chance, "Between chance and ceiling").startswith("random ranking 1.0 to ")
    for level in ("chance", "ceiling"):
        held = _cells(results, "judgements", *[{level: {}}] * 6)
        assert _fact(held, "Between chance and ceiling") == ""
    cut = _cells(results, "search", *[{"truncated": Truncation(0.9, share)} for share in (0.1, 0.2, 0.3)])
    assert _fact(cut, "Not seen by the embedder") == "10.0 to 30.0 % of the tokens"
    assert overall_facts(results, found[:1]) == []
    nothing = dataclasses.replace(results, cells=tuple(dataclasses.replace(c, status="failed") for c in results.cells))
    assert overall_facts(nothing, views(nothing)) == []


def test_two_datasets_have_their_own_queries_and_repositories() -> None:
    """The same repository name in another dataset is another repository, unless some of the same is asked of it."""
    results = _run(retrievers=("dense", "bm25"))
    other = [
        dataclasses.replace(cell, key=cell.key._replace(dataset="other")) if k >= 3 else cell
        for k, cell in enumerate(results.cells)
    ]
    again = tuple(dataclasses.replace(query, dataset="other", text=f"{query.text} again") for query in results.queries)
    (dataset,) = results.datasets
    both = dataclasses.replace(
        results,
        cells=tuple(other),
        queries=(*results.queries, *again),
        datasets=(dataset, dataclasses.replace(dataset, name="other", mined=True)),
    )
    assert _fact(both, "What is compared").endswith("128 queries of 16 repositories")
    mined = dataclasses.replace(both, datasets=tuple(dataclasses.replace(each, mined=True) for each in both.datasets))
    assert _fact(mined, "What is compared").endswith("128 mined queries of 16 repositories")
    first = results.queries[0]
    for asked, total in ((results.queries, "64 queries of 8 repositories"), ((first, *again[1:]), "127 queries of 15")):
        same = tuple(dataclasses.replace(query, dataset="other") for query in asked)
        merged = dataclasses.replace(both, queries=(*results.queries, *same))
        assert total in _fact(merged, "What is compared")


def test_a_legend_names_unit_centre_and_marks() -> None:
    """Marks of one setting of several speak of it alone; no mark, no words about marks."""
    view = _view(_run())
    words = "Points of 100; means with each repository counting once; ranges are 95 % intervals; ★ best mean of its me"
    assert legend(view)[1].startswith(words)
    assert "chunk ids" not in legend(view)[1]
    assert (
        "★ best mean of its measure, of which those on chunk ids have none;" in column_legend(view, chunk_ids=True)[1]
    )
    assert "chunk ids" not in column_legend(view, chunk_ids=False)[1]
    assert mark_words(view) == ["● may be the best: with 95 % confidence the truly best chunker is among those marked."]
    assert mark_words(dataclasses.replace(view, alone=False))[0].startswith(
        "● may be the best of this setting, taken by itself: "
    )
    bare = tuple(dataclasses.replace(row, mark="") for row in view.rows)
    assert mark_words(dataclasses.replace(view, rows=bare)) == []
    one = (dataclasses.replace(bare[0], mark="●"), *bare[1:])
    assert mark_words(dataclasses.replace(view, rows=one)) != []
    (said,) = mark_words(_view(_run(baseline="b")))
    assert said == "Against b: ▲ better, ▼ worse, ≈ practically the same (within 2 points), ? undecided."
    median = _view(_run(MEDIAN))
    assert legend(median)[1].startswith("Tokens; medians over all queries; ")
    assert legend(median)[0].startswith(f"{MEDIAN}: ")
    assert "; less is better" in legend(median)[0]
    assert "less is better" not in legend(view)[0]


def test_facts_stand_below_each_other() -> None:
    """The words begin in one column, two characters behind the longest name."""
    found = facts(_view(_run()))
    width = max(len(fact.name) for fact in found) + 2
    lines = list(fact_lines(found))
    assert len(lines) == len(found)
    for line, fact in zip(lines, found, strict=True):
        assert isinstance(line, Prose)
        words = line._words
        assert words[:width] == fact.name.ljust(width)
        assert words[width:] == (named(fact.chunkers) if fact.chunkers else fact.words)
    assert list(fact_lines([])) == []


def _opening(results: Results, *, wide: bool = False) -> list[str]:
    return [each._words if isinstance(each, Prose) else "" for each in opening(results, views(results), wide=wide)]


def test_a_setting_by_itself_is_said_where_it_says_more() -> None:
    """Where the settings' own answers are those of all together nothing is repeated; where one failed, they are."""
    results = _run(retrievers=("dense", "bm25"))
    assert results.overall is not None
    same = [set(each.found.may_be_best) for each in results.overall.settings]
    assert same == [set(view.best.may_be_best) for view in views(results) if view.best]
    assert not any("by itself: " in line for line in _opening(results))
    failed = simulated_results(
        names=("a", "b"), edges=(0.3, 0.0), retrievers=("dense", "bm25"), failed={"broken": "why"}
    )
    assert "Each of the 2 by itself: a is best." in _opening(failed)
    cells = [dataclasses.replace(c, status="failed") if k == 1 else c for k, c in enumerate(failed.cells)]
    mixed = with_statistics(dataclasses.replace(failed, cells=tuple(cells)))
    alone = [line for line in _opening(mixed) if line.startswith("simulated · ")]
    assert alone[0].startswith("simulated · minilm · dense: Only one chunker was scored (a ")
    assert alone[1] == "simulated · bm25: a is best."


def test_wide_says_all_of_it_and_narrow_its_beginning() -> None:
    """The first sentence is the same; an interaction that is not shown is in the wide one only."""
    results = _run(retrievers=("dense", "bm25"))
    wide, narrow = _opening(results, wide=True)[0], _opening(results)[0]
    assert wide.startswith(narrow)
    assert "No difference is shown to depend on the setting." in wide
    assert "(Corrected for both settings; " in wide
    assert "depend on the setting" not in narrow
