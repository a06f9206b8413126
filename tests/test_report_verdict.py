"""The verdict claims what the comparisons carry, and nothing else."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.measures.declared import MeasureFacts, recall
from evaluation.measures.registry import parse_measure
from evaluation.report.cautions import cautions
from evaluation.report.formats import is_published, joined, measure_of, named, number, p_value, plural, sparkline
from evaluation.report.verdict import sentences, verdict
from evaluation.report.view import View, views
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import Results

REDUNDANCY = "redundancy@4000tok"
"""A share of which less is better."""


def _said(results: Results) -> str:
    (view,) = views(results)
    return " ".join(sentences(view))


def _with(results: Results, *scores: object, **config: object) -> Results:
    """Return the results with other headline scores, one row per chunker, and everything computed from them."""
    headline = results.config.headline
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, headline: np.array(values, dtype=float)})
        for cell, values in zip(results.cells, scores or [cell.scores[headline] for cell in results.cells], strict=True)
    ]
    changed = results.config.model_copy(update=config)
    return with_statistics(dataclasses.replace(results, cells=tuple(cells), config=changed))


def test_a_shown_best_is_named_with_its_distance_and_what_counts() -> None:
    """When all others are excluded, the verdict says so with both means, the interval and the estimand."""
    results = simulated_results(edges=(0.3, 0.0, 0.05, -0.1))
    said = _said(results)
    assert re.match(
        r"cast:size=2000 is best\. Of the code that answers a question, cast:size=2000 has shown [\d.]+ % once you "
        r"have read 4,000 tokens, functions, the closest, [\d.]+ %: .*?, each of 8 repositories counting once\. In ",
        said,
    )
    assert re.search(
        r"cast:size=2000 has [\d.]+ and functions [\d.]+: [\d.]+ points behind the best \([\d.]+ … [\d.]+\); without "
        r"any one repository it is between",
        said,
    )
    assert "points would have been shown four times in five." in said


@pytest.mark.parametrize(
    ("more", "margin", "words"),
    [
        (0.2, 2, r"[\d.]+ points more \([\d.]+ … [\d.]+\)"),
        (-0.2, 2, r"[\d.]+ points less \([\d.]+ … [\d.]+\)"),
        (0.001, 90, r"practically the same \(−[\d.]+ … \+[\d.]+ points\)"),
        (0.004, 0.001, r"[\d.]+ points (more|less), which may be chance \(−[\d.]+ … \+[\d.]+\)"),
        (0.0, 0.001, r"(equal, up to chance|[\d.]+ points (more|less), which may be chance) \(.*?\)"),
    ],
)
def test_what_was_read_has_the_same_three_answers(more: float, margin: float, words: str) -> None:
    """The plain sentence says more or less where that is shown, and else that it may be chance or is the same."""
    results = simulated_results(names=("a", "b"), edges=(0.3, 0.0))
    shares = np.random.default_rng(0).uniform(0.3, 0.7, (2, 64)) * 0.1 + 0.5
    shares[1] = 0.55 + (shares[1] - shares[1].mean())
    shares[0] = 0.55 + more + (shares[0] - shares[0].mean())
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, "recall@4000tok": row})
        for cell, row in zip(results.cells, shares, strict=True)
    ]
    said = _said(_with(dataclasses.replace(results, cells=tuple(cells)), margin=margin))
    assert re.search(rf"4,000 tokens, b [\d.]+ %: {words}, each of 8 repositories counting once\.", said)


def test_equal_chunkers_may_all_be_best() -> None:
    """Where nothing is shown, nobody is called best, and the smallest difference to be seen is named."""
    said = _said(simulated_results(edges=(0.0, 0.0, 0.0, 0.0)))
    assert said.startswith("Any of the 4 chunkers may be best: none is shown to be behind.")
    assert "is better is undecided: " in said
    assert "without any one repository it is between" in said
    assert re.search(
        r"points would have been shown four times in five; with 32 repositories like these, one of [\d.]+\.", said
    )
    assert "is best" not in said


def test_a_leader_with_a_rival_is_not_called_best() -> None:
    """Those that may be best are named together, those that are not beside them."""
    said = _said(simulated_results())
    assert said.startswith(
        "cast:size=2000 or functions may be best; fixed-lines:lines=50 and sliding:lines=40,overlap=10 are not."
    )
    assert "Which of cast:size=2000 and functions is better is undecided: cast:size=2000 − functions is +" in said
    assert "is best" not in said


def test_chunkers_within_the_margin_are_practically_the_same() -> None:
    """The third answer: equal within the margin that was named, which the sentence repeats."""
    rng = np.random.default_rng(1)
    base = rng.uniform(0.3, 0.7, 128)
    near = base + rng.normal(0, 0.005, 128)
    results = simulated_results(names=("a", "b"), edges=(0, 0), queries=128, repositories=32)
    said = _said(_with(results, base, near, margin=5))
    assert said.startswith("Either chunker may be best: neither is shown to be behind.")
    assert re.search(r"(a and b|b and a) are practically the same: every difference is within 5 points\.", said)
    assert "are practically the same" not in _said(_with(results, base, near, margin=0.01))


@pytest.mark.parametrize(("repositories", "these"), [(1, "this repository"), (3, "these 3 repositories")])
def test_few_repositories_limit_the_claim(repositories: int, these: str) -> None:
    """Below six repositories the verdict speaks of queries and says that it holds for these repositories only."""
    said = _said(simulated_results(repositories=repositories))
    assert f"over 64 queries of {plural(repositories, 'repository')}" in said
    assert re.match(rf".* may be best in {these}; .* are not\.", said)
    assert f"Note: holds for {these} only: below 6 repositories, single queries are the unit." in said
    assert ("each repository counting once" in said) == (repositories > 1)


def test_one_query_shows_nothing() -> None:
    """A single query cannot show a difference, and the verdict says so."""
    said = _said(simulated_results(queries=1, repositories=1))
    assert "Any of the 4 chunkers may be best" in said
    assert "over 1 query of 1 repository" in said
    assert "With so few queries, no difference could have been shown." in said


def test_two_repositories_count_once_each() -> None:
    """With two repositories no range without one of them is given: it would be one repository's mean."""
    said = _said(simulated_results(repositories=2))
    assert "over 64 queries of 2 repositories, each repository counting once" in said
    assert "without any one repository" not in said


def test_each_query_may_count_once() -> None:
    """Under the other weight the sentence names it."""
    assert "over 64 queries of 8 repositories, each query counting once" in _said(
        _with(simulated_results(), weight="query")
    )


def test_a_weight_that_decides_who_leads_is_said() -> None:
    """One large repository may lead under one weight only: the verdict names the other leader."""
    results = simulated_results(names=("a", "b"), edges=(0, 0), queries=64, repositories=8)
    queries = [
        dataclasses.replace(query, cluster="repo0") if place < 40 else query
        for place, query in enumerate(results.queries)
    ]
    large = np.array([query.cluster == "repo0" for query in queries])
    results = dataclasses.replace(results, queries=tuple(queries))
    said = _said(_with(results, np.where(large, 0.8, 0.4), np.where(large, 0.5, 0.5)))
    assert "With each query counting once, the best mean would be that of a, not of b" in said


def test_a_baseline_is_what_the_others_are_compared_with() -> None:
    """With a baseline each answer has its sentence, and the marks of the table say the same."""
    results = simulated_results(baseline="fixed-lines:lines=50")
    said = _said(results)
    assert re.search(
        r"Better than fixed-lines:lines=50: cast:size=2000 by [\d.]+ points \([\d.]+ … [\d.]+; without any one "
        r"repository it is between [\d.]+ and [\d.]+\), functions by",
        said,
    )
    assert "Worse than fixed-lines:lines=50: sliding:lines=40,overlap=10 by" in said
    marks = {row.chunker: row.mark for row in views(results)[0].rows}
    assert marks == {
        "cast:size=2000": "▲",
        "functions": "▲",
        "fixed-lines:lines=50": "base",
        "sliding:lines=40,overlap=10": "▼",
    }


def test_failures_and_single_chunkers_are_said() -> None:
    """A failed chunker is named; one chunker, or none, is not compared."""
    said = _said(simulated_results(failed={"broken": "no grammar"}))
    assert said.endswith("1 chunker failed and is left out: broken.")
    alone = simulated_results(names=("cast",), edges=(0.1,))
    assert "Only one chunker was scored (cast " in verdict(alone)
    nothing = dataclasses.replace(alone, cells=tuple(dataclasses.replace(c, status="failed") for c in alone.cells))
    assert "Nothing was scored, so nothing is compared. 1 chunker failed and is left out: cast." in verdict(nothing)


def test_a_failed_cell_stays_in_its_setting() -> None:
    """A retriever without vectors has one setting, also where a cell failed before it could say so."""
    (view,) = views(simulated_results(retrievers=("bm25",), failed={"broken": "no grammar"}))
    assert [cell.key.chunker for cell in view.failed] == ["broken"]


def test_all_ties_and_no_values_have_true_sentences() -> None:
    """Equal scores are called equal; queries without any value are not called ties."""
    results = simulated_results(names=("a", "b"), edges=(0, 0), queries=8)
    same = np.linspace(0, 1, 8)
    assert _said(_with(results, same, same)).startswith("All chunkers have the same naurc@4000tok on every query")
    nothing = np.full(8, np.nan)
    assert _said(_with(results, nothing, nothing)) == "No query has a value of naurc@4000tok, so nothing is compared."
    half = _said(_with(results, same, nothing))
    assert half == "Only a has a value of naurc@4000tok on any query, so nothing is compared."
    early = np.where(np.arange(8) < 4, same, np.nan)
    late = np.where(np.arange(8) < 4, np.nan, same)
    apart = "No two chunkers have a value of naurc@4000tok on the same query, so nothing is compared."
    assert _said(_with(results, early, late)) == apart


def test_some_undefined_values_are_counted() -> None:
    """Queries without a value are left out of a pair, and the note says how many."""
    results = simulated_results(names=("a", "b"), edges=(0.1, 0))
    values = [cell.scores["naurc@4000tok"].copy() for cell in results.cells]
    values[0][:5] = np.nan
    assert "Note: 5 of 64 queries have no value and are left out." in _said(_with(results, *values))


def test_chunkers_that_cut_identically_are_told() -> None:
    """Where all cut the same there is nothing to compare; where some do, they are named."""
    results = simulated_results()

    def printed(*prints: str) -> Results:
        cells = [
            dataclasses.replace(cell, chunks=dataclasses.replace(cell.chunks, fingerprint=one))
            for cell, one in zip(results.cells, prints, strict=True)
        ]
        return dataclasses.replace(results, cells=tuple(cells))

    same = "The chunkers cut this code identically, so there is nothing to compare."
    assert _said(printed("x", "x", "x", "x")) == same
    assert "cast:size=2000 and functions cut this code identically." in _said(printed("x", "y", "x", "z"))
    assert "identically" not in _said(printed("", "", "", ""))


def test_less_may_be_better() -> None:
    """The chunker with the lowest mean is best, the verdict says which way is better, and distances are positive."""
    said = _said(simulated_results(headline=REDUNDANCY, edges=(0.3, 0.0, 0.25, 0.2)))
    assert said.startswith("fixed-lines:lines=50 is best. In redundancy@4000tok (")
    assert "; less is better), fixed-lines:lines=50 has " in said
    assert re.search(r": [\d.]+ points behind the best \([\d.]+ … [\d.]+\)", said)


def test_a_measure_that_many_never_reach_has_medians_and_no_winner() -> None:
    """A median headline gives medians and counts; nothing is called best or undecided."""
    name = parse_measure("tokens_to_recall(0.8)").name
    results = simulated_results(names=("a", "b"), edges=(0, 0), queries=9, headline=name)
    few = [np.nan] * 5 + [100.0] * 4
    results = _with(results, np.arange(9) * 100.0, few)
    said = _said(results)
    assert "a 400 tokens (9 of 9 queries get there); b no median, as half never get there (4 of 9" in said
    assert "less is better" in said
    assert "is best" not in said
    assert results.overall is None
    assert [row.chunker for row in views(results)[0].rows] == ["a", "b"]


def test_twenty_chunkers_are_a_sentence_and_not_a_list() -> None:
    """Of many that are behind only their number is given, and of many that may be best the first ones."""
    names = [f"chunker-{k:02}" for k in range(20)]
    behind = simulated_results(
        names=names, edges=[0.1, *[-k / 100 for k in range(1, 20)]], repositories=16, queries=160
    )
    assert "chunker-00 is best." in _said(behind)
    together = simulated_results(names=names, edges=[0.3] * 10 + [-0.3] * 10, repositories=16, queries=160)
    said = _said(together)
    assert re.match(r"(chunker-\d\d,? ){5}or 5 more may be best; the other 10 are not\.", said)


def test_settings_have_one_statement_and_one_paragraph_each() -> None:
    """Several settings begin with what holds in all of them, corrected for their number."""
    results = simulated_results(embedders=("minilm", "bge"), retrievers=("dense", "bm25"))
    said = verdict(results)
    assert said.startswith("Over all 3 settings: ")
    assert "(Corrected for all 3 settings; a setting by itself, as below, may rule out more.)" in said
    assert said.count("(64 queries, 8 repositories):\n") == 3
    assert "Retrievers with cast:size=2000 · minilm: " in said
    assert "Embedders with cast:size=2000 · dense: " in said
    assert "Embedders with cast:size=2000 · bm25" not in said


def test_the_order_that_changes_with_budget_or_kind_is_a_caution() -> None:
    """Another leader counts where it is ahead by more than the margin; few queries of a kind say nothing."""
    results = simulated_results(names=("a", "b"), edges=(0, 0))
    curve = np.full((64, 8), 0.5)
    ahead = curve + np.where(np.arange(8) == 0, 0.1, 0.0)
    cells = [dataclasses.replace(cell, curve=each) for cell, each in zip(results.cells, (curve, ahead), strict=True)]
    results = dataclasses.replace(results, cells=tuple(cells))
    queries = tuple(
        dataclasses.replace(query, kind="comments" if k < 24 else "docstrings")
        for k, query in enumerate(results.queries)
    )
    few = tuple(dataclasses.replace(query, kind="comments" if k < 4 else "") for k, query in enumerate(queries))
    results = _with(results, np.where(np.arange(64) < 24, 0.4, 0.8), np.full(64, 0.5))
    said = cautions(dataclasses.replace(results, queries=queries), views(dataclasses.replace(results, queries=queries)))
    assert "the order changes with the budget: a leads, but b has shown 10.0 points more at 250 tokens." in said
    by_kind = "the order changes with the kind of query: a leads, but on comments (24 queries) b is 10.0 points better."
    assert by_kind in said
    rare = dataclasses.replace(results, queries=few)
    assert not any("kind of query" in each for each in cautions(rare, views(rare)))


@pytest.mark.parametrize(
    ("python", "queries", "said"),
    [
        (0.9, 40, ""),
        (
            0.9,
            3,
            "python is 90 % of this code, and 3 of the 64 queries are about it: the verdict is mostly about other",
        ),
        (0.9, 0, "python is 90 % of this code, and none of the 64 queries are about it: the verdict is about"),
        (
            1.0,
            1,
            "python is 100 % of this code, and 1 of the 64 queries is about it: the verdict is mostly about other",
        ),
    ],
)
def test_questions_about_other_code_than_most_of_it_are_a_caution(python: float, queries: int, said: str) -> None:
    """It names the language, its share of the code and of the questions, and what the verdict is about instead."""
    results = simulated_results(names=("a", "b"), edges=(0, 0))
    shares = {"python": {"code_share": python}, "go": {"code_share": 1 - python}}
    (dataset,) = results.datasets
    asked = tuple(
        dataclasses.replace(query, language="python" if k < queries else "go")
        for k, query in enumerate(results.queries)
    )
    results = dataclasses.replace(
        results, queries=asked, datasets=(dataclasses.replace(dataset, details={"languages": shares}),)
    )
    found = [each for each in cautions(results, views(results)) if "of this code" in each or "there are only" in each]
    assert found == [] if not said else len(found) == 1 and found[0].startswith(said)


def test_few_questions_about_one_language_are_said_to_be_few() -> None:
    """The language is no news where all of the code and all of the questions are in it."""
    results = simulated_results(names=("a", "b"), edges=(0, 0), queries=15)
    (dataset,) = results.datasets
    asked = tuple(dataclasses.replace(query, language="python") for query in results.queries)
    details = {"languages": {"python": {"code_share": 1.0}}}
    results = dataclasses.replace(results, queries=asked, datasets=(dataclasses.replace(dataset, details=details),))
    assert "there are only 15 queries: see above what so few could have shown." in cautions(results, views(results))


def test_a_measure_of_ones_own_is_in_its_own_unit() -> None:
    """A plain number has no points: amounts stand as they are, and the measure's own words explain them."""
    words = ("cost", "cost", "cost", "what it costs", "what an answer costs", "here")
    recall([MeasureFacts(*words, "number", "lower", 0.0, None, comparable=True)])
    said = _said(simulated_results(headline="cost", edges=(0.3, 0.0, 0.25, 0.2)))
    assert said.startswith("fixed-lines:lines=50 is best. In cost (what an answer costs; less is better), ")
    assert re.search(r": 0\.\d+ behind the best \(0\.\d+ … 0\.\d+\), each of 8 repositories counting once", said)
    assert "points" not in said


def test_results_keep_the_meaning_of_their_own_measures() -> None:
    """Another experiment of the process that calls another measure so changes nothing of what the first ones say."""
    words = ("cost", "cost", "cost", "what it costs", "what an answer costs", "here")
    facts = MeasureFacts(*words, "number", "lower", 0.0, None, comparable=True)
    recall([facts])
    first = dataclasses.replace(simulated_results(headline="cost"), own_measures=(facts,))
    said = verdict(first)
    recall([dataclasses.replace(facts, unit="share", direction="higher", high=1.0)])
    assert parse_measure("cost").unit == "share"
    assert verdict(first) == said
    assert "In cost (what an answer costs; less is better)" in said
    # As text: numbers that are undefined are equal to nothing.
    assert repr(with_statistics(first).comparisons) == repr(first.comparisons)


def _claims(view: View, said: str) -> None:
    """Check every claim of a paragraph against the statistics behind it."""
    assert view.best is not None
    may, out = view.best.may_be_best, view.best.excluded
    if match := re.match(r"(\S+) is best(?: in [^.]+)?\.", said):
        assert (match[1],) == may
    if match := re.match(r"(.+?) may be best(?: in [^;.]+)?; (.+) (?:is|are) not\.", said):
        assert set(re.split(r", | or ", match[1])) == set(may)
        assert set(re.split(r", | and ", match[2])) == set(out)
    if said.startswith("Any of the"):
        assert not out
    for a, b in re.findall(r"(\S+) is better than (\S+):", said):
        found = view.comparison(a, b)
        assert found is not None
        assert found.better == a
    same = [re.search(r"(\S+) and (\S+) are practically the same", said)]
    same += [re.search(r"Practically the same as (\S+), within [^:]+: (\S+)\.", said)] if not view.baseline else []
    for match in filter(None, same):
        found = view.comparison(match[1], match[2])
        assert found is not None
        assert found.decision == "practically the same"
    if match := re.search(r"Which of (\S+) and (\S+) is better is undecided", said):
        found = view.comparison(match[1], match[2])
        assert found is not None
        assert found.decision == "undecided"
    for word, sign in (("Better", True), ("Worse", False)):
        listed = re.search(rf"{word} than {view.baseline}: (.*?\))\.", said)
        named_ = set(re.findall(r"(\S+) by", listed[1])) if listed else set()
        pairs = [view.comparison(row.chunker, str(view.baseline)) for row in view.rows if view.baseline]
        assert named_ == {p.a for p in pairs if p and p.shown and (p.better == p.a) == sign}


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.sampled_from([-0.2, -0.05, 0.0, 0.05, 0.2]), min_size=2, max_size=4),
    st.integers(0, 50),
    st.sampled_from([1, 3, 8]),
    st.sampled_from(["naurc@4000tok", REDUNDANCY, "recall@4000tok"]),
    st.sampled_from([None, "c0"]),
)
def test_the_verdict_never_contradicts_the_comparisons(
    edges: list[float], seed: int, repositories: int, headline: str, baseline: str | None
) -> None:
    """Every "is best", "are not", "better than", "practically the same" and "undecided" is what the statistics say."""
    names = [f"c{k}" for k in range(len(edges))]
    results = simulated_results(
        names=names,
        edges=edges,
        queries=24,
        repositories=repositories,
        seed=seed,
        headline=headline,
        baseline=baseline,
    )
    (view,) = views(results)
    _claims(view, _said(results))
    best = view.best
    assert best is not None
    for row in view.rows:
        if baseline is None:
            assert (row.mark == "●") == (row.chunker in best.may_be_best)


def test_a_headline_that_was_not_scored_is_refused() -> None:
    """A report about a measure that the run does not have names those it has."""
    results = simulated_results()
    with pytest.raises(UsageError, match="choose one of naurc@4000tok"):
        verdict(dataclasses.replace(results, config=results.config.model_copy(update={"headline": "ndcg@99"})))


def test_numbers_read_well() -> None:
    """Signs, p-values, plurals, lists, budgets and sparklines are as a person writes them."""
    assert [number(-0.04), number(-1.26), number(3.0, signed=True), number(None)] == ["0.0", "−1.3", "+3.0", "–"]
    assert [p_value(p) for p in (0.00001, 0.002, 0.0312, 0.333, 1.0)] == [
        "p < 0.0001",
        "p = 0.002",
        "p = 0.031",
        "p = 0.33",
        "p = 1",
    ]
    assert plural(1, "query") + plural(2, "repository") == "1 query2 repositories"
    assert [joined("a"), joined("ab"), joined("abc", "or")] == ["a", "a and b", "a, b or c"]
    assert named("abcdefgh", "or") == "a, b, c, d, e or 3 more"
    assert measure_of("recall@4000tok").budget_words == "4,000 tokens"
    assert is_published("recall@5")
    assert not is_published("recall@4000tok")
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"


def test_one_chunker_with_several_retrievers_has_a_verdict_about_them() -> None:
    """Other axes are compared as chunkers are, and a retriever without vectors with those of every embedder."""
    results = simulated_results(
        names=("cast",), edges=(0.1,), embedders=("minilm", "bge"), retrievers=("dense", "hybrid", "bm25")
    )
    lines = verdict(results).split("\n")
    heads = [line.split(" in naurc@4000tok (")[0] for line in lines if " with cast" in line]
    assert heads == [
        "Embedders with cast · dense",
        "Embedders with cast · hybrid",
        "Retrievers with cast · minilm",
        "Retrievers with cast · bge",
    ]
    for line in lines[:4]:
        assert "each of 8 repositories counting once: " in line
        assert "would have been shown four times in five." in line
        assert ("may be best" in line) == (": undecided." in line or ": practically the same." in line)
    assert "bm25" in lines[2]
    assert "bm25" in lines[3]
    assert "nothing is" not in verdict(results)
