"""Each caution is given exactly where it is due, with the numbers of the run in it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest
from report_case import simulated_results

from evaluation.report.cautions import cautions
from evaluation.report.view import views
from evaluation.results.comparisons import with_statistics
from evaluation.results.facts import Truncation
from evaluation.results.types import OffsetSpread, Results

HEADLINE = "naurc@4000tok"
_FACTS = ("chunks", "search", "judgements")


@functools.cache
def _quiet(*, retrievers: tuple[str, ...] = ("dense",)) -> Results:
    """Return a run in which nothing has to be warned of: chance is low, and one chunker leads everywhere."""
    results = simulated_results(names=("a", "b"), edges=(0.1, 0.0), queries=48, retrievers=retrievers)
    curve = np.tile(np.linspace(0.2, 0.9, len(results.budgets)), (48, 1))
    for place, cell in enumerate(results.cells):
        low = dict.fromkeys(cell.judgements.chance, 0.1)
        judged = dataclasses.replace(cell.judgements, chance=low)
        results = _cell(results, place, judgements=judged, curve=curve + (0.05 if cell.key.chunker == "a" else 0.0))
    return results


def _cell(results: Results, place: int, **parts: Any) -> Results:
    """Return the results with other parts in one cell; of facts, some fields."""
    cell = results.cells[place]
    made = {
        name: dataclasses.replace(getattr(cell, name), **part) if name in _FACTS and isinstance(part, dict) else part
        for name, part in parts.items()
    }
    cells = [dataclasses.replace(cell, **made) if k == place else each for k, each in enumerate(results.cells)]
    return dataclasses.replace(results, cells=tuple(cells))


def _said(results: Results) -> list[str]:
    return cautions(results, views(results))


def test_a_run_without_trouble_has_no_caution() -> None:
    """Nothing is said for its own sake."""
    assert _said(_quiet()) == []


@pytest.mark.parametrize("embedder", ["hashing", "hashing:dimensions=64"])
def test_the_smoke_test_is_called_one(embedder: str) -> None:
    """Whatever its parameters are; other embedders are models."""
    results = simulated_results(names=("a", "b"), edges=(0.1, 0.0), queries=48, embedders=(embedder,))
    assert "hashing is a smoke test" in _said(results)[0]


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (("qrels", "pack"), []),
        (("qrels", "token-fallback"), ["is guessed by token F1, which favours short chunks"]),
        (("token-fallback", "mixed"), ["is of mixed kinds"]),
    ],
)
def test_relevance_that_is_guessed_is_said(used: tuple[str, str], said: list[str]) -> None:
    """On chunk ids only: a run without measures on them has nothing to beware of."""
    results = _quiet()
    for place, strategy in enumerate(used):
        results = _cell(results, place, judgements={"strategy_used": strategy})
    assert _said(results) == [f"on chunk ids, relevance {how}: those scores do not compare chunkers." for how in said]
    for place, cell in enumerate(results.cells):
        fair = {name: values for name, values in cell.scores.items() if not name.endswith("@5")}
        results = _cell(results, place, scores=fair)
    few = results.config.model_copy(update={"measures": tuple(results.cells[0].scores)})
    assert _said(with_statistics(dataclasses.replace(results, config=few))) == []


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.0, 0.0049), ""),
        ((0.005, 0.005), "0 %"),
        ((0.034, 0.031), "3 %"),
        ((0.4, 0.014), "1 to 40 %"),
        ((0.014, 0.4), "1 to 40 %"),
    ],
)
def test_tokens_that_the_embedder_does_not_see_are_counted(shares: tuple[float, float], said: str) -> None:
    """From half a per cent on; one number where all chunkers lose the same, else the least and the most."""
    results = _quiet()
    for place, share in enumerate(shares):
        results = _cell(results, place, search={"truncated": Truncation(0.5, share)})
    wanted = [f"minilm does not see {said} of the tokens: what it cuts off is judged unread."] if said else []
    assert _said(results) == wanted


def test_a_chunker_that_cuts_what_docstrings_ask_for_is_named() -> None:
    """Only where both are in the run: a chunker of definitions, and questions made of docstrings."""
    results = simulated_results(names=("functions", "b", "definitions:x=1"), edges=(0.2, 0.0, 0.1), queries=48)

    def asked(count: int) -> list[str]:
        queries = tuple(
            dataclasses.replace(query, kind="docstrings" if k < count else "comments")
            for k, query in enumerate(results.queries)
        )
        found = dataclasses.replace(results, queries=queries)
        return [each for each in _said(found) if "one definition" in each]

    assert asked(0) == []
    (said,) = asked(48)
    assert said.startswith("the answer to 48 docstring queries is one definition, which is exactly what functions, ")
    assert "functions, definitions:x=1 cuts: look at the other kinds of queries too." in said
    plain = _quiet()
    mined = tuple(dataclasses.replace(query, kind="docstrings") for query in plain.queries)
    assert _said(dataclasses.replace(plain, queries=mined)) == []


@pytest.mark.parametrize(
    ("share", "about", "total", "said"),
    [
        (0.9, 20, 48, ""),
        (0.9, 19, 48, "python is 90 % of this code, and 19 of the 48 queries are about it: the verdict is mostly"),
        (0.8, 19, 48, "python is 80 % of this code, and 19 of the 48 queries are about it"),
        (0.75, 18, 48, "there are only 48 queries: see above what so few could have shown."),
        (0.76, 18, 48, "python is 76 % of this code, and 18 of the 48 queries are about it"),
        (1.0, 1, 48, "python is 100 % of this code, and 1 of the 48 queries is about it: the verdict is mostly"),
        (1.0, 0, 48, "python is 100 % of this code, and none of the 48 queries are about it: the verdict is about o"),
        (1.0, 1, 1, "there is only 1 query, which can show little."),
    ],
)
def test_the_main_language_is_one_that_is_asked_about(share: float, about: int, total: int, said: str) -> None:
    """Said where fewer than half of its share of the questions are about it, and those are fewer than twenty."""
    results = _quiet() if total == 48 else simulated_results(names=("a",), edges=(0.1,), queries=1, repositories=1)
    (dataset,) = results.datasets
    asked = tuple(
        dataclasses.replace(query, language="python" if k < about else "go") for k, query in enumerate(results.queries)
    )
    known = {"python": {"code_share": share}, "go": {"code_share": 1 - share}}
    languages: tuple[dict[str, Any], ...] = (known, {"python": {}}, {}, {"a": 1})
    for shares in languages:
        details = {"languages": shares}
        found = dataclasses.replace(results, queries=asked, datasets=(dataclasses.replace(dataset, details=details),))
        language = [each for each in _said(found) if "of this code" in each or "there " in each]
        if "go" in shares:
            assert (language == []) if not said else language[0].startswith(said)
            assert len(language) <= 1
        elif not shares or "a" in shares:
            assert language == []
        elif about < 20:  # a language of which no share is known has none
            assert language[0].startswith("there ")


@pytest.mark.parametrize(("lacking", "said"), [(0, []), (2, []), (3, ["a has no places for 3 of 48 queries"])])
def test_queries_that_a_tool_did_not_answer_are_said(lacking: int, said: list[str]) -> None:
    """Where they are more than one in twenty: they count as not found."""
    results = _cell(_quiet(), 0, search={"diagnostics": {"queries_without_places": float(lacking)}})
    assert _said(results) == [f"{each}: they count as not found." for each in said]


@pytest.mark.parametrize(("levels", "said"), [((0.2, 0.2), ""), ((0.1, 0.21), "21 %"), ((0.5, 0.3), "50 %")])
def test_a_budget_that_holds_much_of_a_repository_is_said(levels: tuple[float, float], said: str) -> None:
    """Where a random ranking shows more than a fifth of the answer, the largest share is named."""
    results = _quiet()
    for place, level in enumerate(levels):
        results = _cell(results, place, judgements={"chance": {"recall@4000tok": level, "recall@5": 0.9}})
    found = f"the budget of 4,000 tokens is a large part of these repositories: a random ranking shows {said} of the"
    assert _said(results) == ([f"{found} answer."] if said else [])
    one = _cell(_cell(results, 0, judgements={"chance": {}}), 1, judgements={"chance": {}})
    assert _said(one) == []


@pytest.mark.parametrize(("fallen", "said"), [(5, False), (6, True)])
def test_files_that_were_cut_some_other_way_are_counted(fallen: int, said: bool) -> None:  # noqa: FBT001 - parametrized
    """Where they are more than one of twenty; the reasons are named."""
    reasons = {"no grammar": fallen - 1, "too long": 1}
    results = _cell(_quiet(), 1, chunks={"files": 100, "fallbacks": reasons})
    words = f"b cut {fallen} of 100 files some other way (no grammar, too long)."
    assert _said(results) == ([words] if said else [])
    assert _said(_cell(_quiet(), 1, chunks={"files": 0, "fallbacks": reasons})) == []


def test_files_on_which_a_chunker_failed_are_named() -> None:
    """One is enough."""
    results = _cell(_quiet(), 0, chunks={"failed_files": {"repo0/x.py": "RecursionError"}})
    assert _said(results) == ["a failed on 1 file: repo0/x.py (RecursionError)."]


def test_the_place_of_the_first_cut_has_its_range() -> None:
    """Of the headline measure; means of another measure say nothing of it."""
    spread = (OffsetSpread("recall@4000tok", (0.1, 0.9)), OffsetSpread(HEADLINE, (0.5, 0.423, 0.61)))
    said = "simulated · minilm · dense: b is a mean over 3 first cuts, which range from 42.3 to 61.0."
    assert _said(_cell(_quiet(), 1, offsets=spread)) == [said]
    assert _said(_cell(_quiet(), 1, offsets=spread[:1])) == []


def test_answers_that_were_cut_off_are_counted() -> None:
    """A tool that returned more than was read, and rows about queries that were not drawn, each with its number."""
    counts = {"answers_cut_off": 1.0, "places_cut_off": 1234.0, "rows_not_drawn": 5678.0}
    assert _said(_cell(_quiet(), 0, search={"diagnostics": counts})) == [
        "a answered 1 query with more than 100 places: 1,234 were not read.",
        "5,678 rows of the span run a are about queries that were not drawn.",
    ]
    nothing = {"answers_cut_off": 0.0, "places_cut_off": 0.0, "rows_not_drawn": 0.0}
    assert _said(_cell(_quiet(), 0, search={"diagnostics": nothing})) == []


@pytest.mark.parametrize(("skipped", "said"), [(50, False), (51, True)])
def test_rows_of_a_dataset_that_were_left_out_are_counted(skipped: int, said: bool) -> None:  # noqa: FBT001 - parametrized
    """Where they are more than one of twenty; a dataset that does not count its rows says nothing."""
    results = _quiet()
    (dataset,) = results.datasets

    def told(**details: object) -> list[str]:
        return _said(dataclasses.replace(results, datasets=(dataclasses.replace(dataset, details=details),)))

    reasons = {"no file": skipped - 1, "too long": 1}
    words = f"{skipped} of 1,000 rows of simulated were left out: {skipped - 1} no file, 1 too long."
    assert told(rows=1000, skipped=reasons) == ([words] if said else [])
    assert told(skipped=reasons) == told(rows="1000", skipped=reasons) == told(rows=1000, skipped=skipped) == []


@pytest.mark.parametrize(("more", "said"), [(0.0199, False), (0.0201, True)])
def test_another_leader_at_another_budget_counts_beyond_the_margin(more: float, said: bool) -> None:  # noqa: FBT001 - parametrized
    """Two points of recall, at every budget where it is so; budgets are named in their order."""
    results = _quiet()
    budgets = len(results.budgets)
    leader = np.full((48, budgets), 0.5)
    other = leader + np.where(np.isin(np.arange(budgets), (1, 3)), more, -0.1)
    results = _cell(_cell(results, 0, curve=leader), 1, curve=other)
    words = "the order changes with the budget: a leads, but b has shown 2.0 points more at 500 tokens and 2.0 points"
    assert _said(results) == ([f"{words} more at 2,000 tokens."] if said else [])
    assert _said(_cell(results, 0, curve=None)) == []
    assert _said(_cell(results, 1, curve=None)) == []


@pytest.mark.parametrize("headline", [HEADLINE, "redundancy@4000tok"])
@pytest.mark.parametrize(("more", "of_a_kind", "said"), [(0.021, 20, True), (0.019, 20, False), (0.021, 19, False)])
def test_another_leader_on_a_kind_of_query_counts_beyond_the_margin(
    headline: str,
    more: float,
    of_a_kind: int,
    said: bool,  # noqa: FBT001 - parametrized
) -> None:
    """Two points, on a kind that has twenty queries, in the direction that is better for the measure."""
    results = simulated_results(names=("a", "b"), edges=(0, 0), queries=48, headline=headline)
    sign = -1 if headline.startswith("redundancy") else 1
    mine = np.arange(48) < of_a_kind
    scores = (np.full(48, 0.5), 0.5 + sign * np.where(mine, more, -0.1))
    for place, values in enumerate(scores):
        results = _cell(results, place, scores={**results.cells[place].scores, headline: values}, curve=None)
    kinds = tuple(
        dataclasses.replace(query, kind="" if k < of_a_kind else "comments") for k, query in enumerate(results.queries)
    )
    results = with_statistics(dataclasses.replace(results, queries=kinds))
    found = [each for each in _said(results) if "kind" in each]
    words = "the order changes with the kind of query: a leads, but on other queries (20 queries) b is 2.1 points bet"
    assert found == ([f"{words}ter."] if said else [])
    one = tuple(dataclasses.replace(query, kind="") for query in results.queries)
    assert not [each for each in _said(dataclasses.replace(results, queries=one)) if "kind" in each]


def test_a_change_of_order_names_its_setting_where_others_have_none() -> None:
    """In all settings it is said once without a place; other cautions never have one."""
    results = _quiet(retrievers=("dense", "bm25"))
    turned = np.full((48, len(results.budgets)), 0.99)
    changes = "the order changes with the budget: a leads, but b has shown "
    one = _cell(results, 1, curve=turned, chunks={"failed_files": {"x": "y"}})
    first, second = _said(one)
    assert first == "b failed on 1 file: x (y)."
    assert second.startswith(f"minilm · dense: {changes}")
    (both,) = _said(_cell(_cell(results, 1, curve=turned), 3, curve=turned))
    assert both.startswith(changes)
    other = dataclasses.replace(results.datasets[0], name="other")
    several = dataclasses.replace(one, datasets=(*one.datasets, other))
    assert _said(several)[1].startswith(f"simulated · minilm · dense: {changes}")


def test_what_was_left_out_before_the_run_is_said_last() -> None:
    """A chunker that could not be matched to a size, with the reason."""
    results = _cell(_quiet(), 0, chunks={"failed_files": {"x": "y"}})
    said = _said(dataclasses.replace(results, left_out={"whole-file": "it has no size"}))
    assert said[1:] == ["whole-file was left out: it has no size."]


def test_exactly_the_margin_is_not_beyond_it() -> None:
    """Neither at a budget nor on a kind of query; the shares are such that nothing is rounded."""
    results = _quiet()
    config = results.config.model_copy(update={"margin": 25.0})
    ahead = np.where(np.arange(len(results.budgets)) == 0, 0.75, 0.25)
    results = _cell(results, 0, curve=np.full((48, len(results.budgets)), 0.5))
    results = _cell(results, 1, curve=np.tile(ahead, (48, 1)))
    kinds = tuple(
        dataclasses.replace(query, kind="comments" if k % 2 else "docstrings")
        for k, query in enumerate(results.queries)
    )
    odd = np.arange(48) % 2 == 1
    for place, values in enumerate((np.full(48, 0.5), np.where(odd, 0.75, 0.0))):
        results = _cell(results, place, scores={**results.cells[place].scores, HEADLINE: values})
    held = with_statistics(dataclasses.replace(results, config=config, queries=kinds))
    assert _said(held) == []
    less = held.config.model_copy(update={"margin": 24.9})
    assert len(_said(with_statistics(dataclasses.replace(held, config=less)))) == 2


def test_another_order_of_what_has_been_shown_is_not_one_of_budgets() -> None:
    """A headline that says nothing of reading may have another leader at every budget; without direction, none does."""
    for headline, said in (
        (
            "ndcg@5",
            "the order changes between ndcg@5 and what has been shown: a leads, but b has shown 10.0 points more",
        ),
        ("tokens_behind@5", ""),
    ):
        results = simulated_results(names=("a", "b"), edges=(0.1, 0.0), queries=48, headline=headline)
        leader = np.full((48, len(results.budgets)), 0.5)
        results = _cell(_cell(results, 0, curve=leader), 1, curve=leader + 0.1)
        for place in (0, 1):
            low = dict.fromkeys(results.cells[place].judgements.chance, 0.1)
            results = _cell(results, place, judgements={"chance": low})
        found = [each for each in _said(results) if "order" in each]
        assert [each[: len(said)] for each in found] == ([said] if said else [])
