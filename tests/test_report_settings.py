"""What is said of all settings together, and of embedders and retrievers, is what each setting's statistics say."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from report_case import simulated_results

from evaluation.report.costs import index_sentences
from evaluation.report.other_axes import axis_sentences, axis_summary
from evaluation.report.overall import marks_beside_others, marks_legend, overall_lead, overall_sentences, overall_table
from evaluation.report.verdict import axes_alone, verdict
from evaluation.report.view import find_pair, views
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import Interaction, Overall, Results
from evaluation.statistics import BestSet
from evaluation.statistics.types import LEAST

HEADLINE = "naurc@4000tok"
NAMES = ("a", "b", "c")
EXCEPT = (("a", "bm25"), ("b", "minilm · dense"), ("c", "bm25"))
CHANGE = "a − b is +10.0 with minilm · dense and −5.0 with bm25, a change of 10.0 points"
NO_CHANGE = "No difference is shown to depend on the setting. Closest to significance"


@functools.cache
def _run(retrievers: tuple[str, ...] = ("dense",), headline: str = HEADLINE, baseline: str | None = None) -> Results:
    edges = (0.2, 0.0, -0.1)
    return simulated_results(names=NAMES, edges=edges, baseline=baseline, retrievers=retrievers, headline=headline)


def _points(*values: float, signed: bool = False) -> list[str]:
    return [f"{100 * value:{'+' if signed else ''}.1f}".replace("-", "−") for value in values]


def _overall(
    may: tuple[str, ...], *settings: tuple[str, ...], names: tuple[str, ...] = NAMES
) -> tuple[Results, Overall]:
    """Return results whose settings leave these as the best."""
    results = _run(retrievers=("dense", "bm25"))
    real = results.overall
    assert real is not None
    held = [
        dataclasses.replace(each, found=_best(each.found, left))
        for each, left in zip(real.settings, settings, strict=True)
    ]
    out = tuple(name for name in names if not any(name in left for left in settings))
    found = dataclasses.replace(
        real, may_be_best=may, excluded=out, settings=tuple(held), chunkers=names, interaction=None
    )
    return dataclasses.replace(results, overall=found), found


def _best(found: BestSet, may: tuple[str, ...]) -> BestSet:
    standings = tuple(dataclasses.replace(each, may_be_best=each.name in may) for each in found.standings)
    return dataclasses.replace(found, may_be_best=may, standings=standings)


@pytest.mark.parametrize(
    ("may", "settings", "said"),
    [
        (("a",), (("a",), ("a",)), ["a is best in every one."]),
        (NAMES, (NAMES, NAMES), ["any of the 3 chunkers may be best in every one."]),
        (("a", "b"), (("a", "b"), ("a", "b")), ["a or b may be best in every one; c in none."]),
        (
            ("a",),
            (("a", "b"), ("a",)),
            ["a may be best in every one; c in none.", "b may be best except with bm25."],
        ),
        (
            (),
            (("a",), ("b",)),
            [
                "no chunker may be best in every one; c in none: the best depends on the setting.",
                "a may be best except with bm25; b may be best except with minilm · dense.",
            ],
        ),
        (
            (),
            (("a", "c"), ("b",)),
            [
                "no chunker may be best in every one: the best depends on the setting.",
                "; ".join(f"{name} may be best except with {where}" for name, where in EXCEPT) + ".",
            ],
        ),
    ],
)
def test_what_holds_in_every_setting_is_told_from_what_depends(
    may: tuple[str, ...], settings: tuple[tuple[str, ...], ...], said: list[str]
) -> None:
    """Best in all, may be best in all, in some, or in none."""
    results, _ = _overall(may, *settings)
    found = overall_sentences(results, views(results))
    note = "(Corrected for both settings; a setting by itself, as below, may rule out more.)"
    assert found == [f"Over both settings: {said[0]}", *said[1:], note]
    assert overall_lead(results, views(results)) == found[:-1]


def test_many_chunkers_in_many_settings_are_counted() -> None:
    """Six are named; of more their number is said."""
    names = tuple("abcdefghijklmnop")
    seven = names[:7]
    results, _ = _overall((), seven, names[7:9], names=names)
    who, depends = overall_sentences(results, views(results))[:2]
    assert who == (
        "Over both settings: no chunker may be best in every one; 7 of them in none: the best depends on the setting."
    )
    assert depends.count("may be best except with") == 6
    assert depends.endswith("; 3 more may be best in some settings only.")
    results, _ = _overall(("a",), ("a",), ("a", "b"), names=names[:9])
    assert "a may be best in every one; 7 others in none." in overall_sentences(results, views(results))[0]
    results, _ = _overall(("a",), ("a",), ("a", "b"), names=names[:8])
    assert "a may be best in every one; c, d, e, f, g and h in none." in overall_sentences(results, views(results))[0]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0.05, 0.1, 0.15), f"The setting matters: {CHANGE} (5.0 … 15.0)."),
        ((-0.15, -0.1, -0.05), f"The setting matters: {CHANGE} (5.0 … 15.0)."),
        ((-0.05, 0.1, 0.15), f"{NO_CHANGE}: {CHANGE} (−5.0 … +15.0)."),
        ((-0.15, -0.1, 0.05), f"{NO_CHANGE}: {CHANGE} (−5.0 … +15.0)."),
    ],
)
def test_a_change_between_settings_has_its_interval(numbers: tuple[float, float, float], said: str) -> None:
    """Turned so that the change is positive; with signs where it may be none. Only a shown one belongs to the lead."""
    results, found = _overall(("a",), ("a",), ("a",))
    low, difference, high = numbers
    change = dataclasses.replace(views(results)[0].comparisons[0], low=low, difference=difference, high=high)
    keys = [each.setting for each in found.settings]
    one = Interaction("a", "b", keys[0], keys[1], 0.1, -0.05, change)
    results = dataclasses.replace(results, overall=dataclasses.replace(found, interaction=one))
    assert overall_sentences(results, views(results))[1] == said
    assert (said in overall_lead(results, views(results))) == change.shown


def test_the_table_of_all_settings_has_their_means_and_marks() -> None:
    """A dot for who may be best there, and the same for programs."""
    results, found = _overall(("a",), ("a", "b"), ("a",))
    table = overall_table(results)
    assert table is not None
    assert table.header == ["chunker", "minilm · dense", "bm25"]
    assert [row[0] for row in table.rows] == list(NAMES)
    for row, record in zip(table.rows, table.data, strict=True):
        for cell, each in zip(row[1:], found.settings, strict=True):
            mean, may = each.found.standing(row[0]).mean, row[0] in each.found.may_be_best
            assert cell == _points(mean)[0] + (" ●" if may else "")
            where_ = "minilm · dense" if each is found.settings[0] else "bm25"
            assert (record[where_], record[f"{where_} may be best"]) == (mean, may)
    assert overall_table(_run()) is None
    for view, left in zip(views(results), (("a", "b"), ("a",)), strict=True):
        assert marks_beside_others(results, view) == dict.fromkeys(left, "●")
        assert marks_legend(results, view)[0].startswith("● may be best in its setting, corrected for the number")
    (alone,) = views(_run())
    assert marks_beside_others(_run(), alone) == {row.chunker: row.mark for row in alone.rows}
    assert marks_legend(_run(), alone)[0].startswith("● may be the best: ")


def test_settings_that_share_nothing_or_have_no_test_are_not_summed_up() -> None:
    """Each with its reason."""
    results = dataclasses.replace(_run(retrievers=("dense", "bm25")), overall=None)
    why = "Fewer than two settings share two chunkers, so nothing is said of all of them together."
    assert overall_sentences(results, views(results)) == overall_lead(results, views(results)) == [why]
    for headline in ("tokens_to_recall(0.8)", "tokens_behind@5"):
        median = _run(headline=headline, retrievers=("dense", "bm25"))
        assert median.overall is None
        why = f"{headline} has no test, so nothing is said of all 2 settings together."
        assert overall_sentences(median, views(median)) == [why]


def test_a_baseline_of_several_settings_has_its_own_marks() -> None:
    """Who may be best is not what is asked."""
    results = _run(retrievers=("dense", "bm25"), baseline="b")
    for view in views(results):
        assert marks_beside_others(results, view) == {row.chunker: row.mark for row in view.rows}
        assert marks_legend(results, view)[0].startswith("Against b: ")


def _axes(**edges: float) -> Results:
    """Return one chunker with three retrievers whose scores differ by these amounts on every query."""
    results = simulated_results(names=("a",), edges=(0.0,), retrievers=("dense", "bm25", "hybrid"))
    base = results.cells[0].scores[HEADLINE] * 0.3 + 0.2
    noise = np.random.default_rng(0).normal(0, 0.01, (3, 64))
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, HEADLINE: base + edges[cell.key.retriever] + noise[k]})
        for k, cell in enumerate(results.cells)
    ]
    return with_statistics(dataclasses.replace(results, cells=tuple(cells)))


def test_a_line_about_retrievers_has_their_means_in_order_and_who_is_behind() -> None:
    """Best first; the distances and the open pair are those of the statistics; with one chunker, what it is over."""
    results = _axes(dense=0.2, bm25=0.0, hybrid=0.205)
    (line,) = axis_sentences(results)
    (record,) = [each for each in results.best if each.axis == "retriever" and each.measure == HEADLINE]
    means = {each.name: each.mean for each in record.found.standings}
    ranked = sorted(means, key=lambda name: -means[name])
    listed = ", ".join(f"{name} {_points(means[name])[0]}" for name in ranked)
    assert line.startswith("Retrievers with a · minilm in naurc@4000tok (")
    assert f"), each of 8 repositories counting once: {listed}. " in line
    one = record.found.standing("bm25")
    away = _points(abs(one.difference), *sorted((abs(one.low), abs(one.high))))
    behind = f"bm25 is {away[0]} points behind ({away[1]} … {away[2]})"
    first, second = ranked[:2]
    assert f"{first} or {second} may be best; bm25 is not: {behind}. " in line
    pair = find_pair(
        [each.found for each in results.comparisons if each.axis == "retriever" and each.measure == HEADLINE],
        first,
        second,
    )
    assert pair is not None
    signed = _points(pair.difference, pair.low, pair.high, signed=True)
    assert f"{first} − {second} is {signed[0]} points ({signed[1]} … {signed[2]}): {pair.decision}. " in line
    assert f"{_points(record.found.detectable)[0]} points would have been shown four times in five." in line
    (summary,) = axis_summary(results)
    assert summary == f"Retrievers: dense or hybrid may be best with a: bm25 is {away[0]} points behind."
    assert axes_alone(results, views(results))
    assert verdict(results).startswith(line)


def test_one_retriever_that_is_best_is_called_so() -> None:
    """With the distance of each of the others; three that may be best are any of them."""
    results = _axes(dense=0.3, bm25=0.0, hybrid=0.1)
    (line,) = axis_sentences(results)
    assert " dense is best: hybrid is " in line
    assert " − " not in line
    assert axis_summary(results)[0].startswith("Retrievers: dense is best with a: bm25 is ")
    (line,) = axis_sentences(_axes(dense=0.0, bm25=0.0, hybrid=0.0))
    assert " Any of them may be best. " in line
    behind = _axes(dense=0.3, bm25=0.3, hybrid=0.1)
    assert " may be best; hybrid is not: " in axis_sentences(behind)[0]
    two = _axes(dense=0.3, bm25=0.0, hybrid=0.0)
    assert axis_summary(two)[0].count(" points behind") == 2


def test_a_retriever_that_a_one_sided_test_alone_leaves_is_not_called_best() -> None:
    """Its interval would include 0: p stands in its place."""
    results = _axes(dense=0.3, bm25=0.0, hybrid=0.1)
    records = []
    for record in results.best:
        standings = tuple(
            each if each.may_be_best else dataclasses.replace(each, p=0.031, low=-0.2, high=-LEAST)
            for each in record.found.standings
        )
        records.append(dataclasses.replace(record, found=dataclasses.replace(record.found, standings=standings)))
    (line,) = axis_sentences(dataclasses.replace(results, best=tuple(records)))
    assert " Only dense may be best: hybrid is " in line
    assert line.count(" points behind (p = 0.031, one-sided)") == 2
    assert " dense is best" not in line


def test_retrievers_are_summed_up_over_the_chunkers() -> None:
    """With every chunker the same, in some another, or none that holds; distances are the least and the most."""
    results = simulated_results(names=("a", "b"), edges=(0.0, 0.0), retrievers=("dense", "bm25"))
    base = results.cells[0].scores[HEADLINE] * 0.3 + 0.2
    noise = np.random.default_rng(0).normal(0, 0.01, (4, 64))

    def summed(**edges: float) -> tuple[str, Results]:
        cells = [
            dataclasses.replace(
                cell,
                scores={**cell.scores, HEADLINE: base + edges[f"{cell.key.chunker}_{cell.key.retriever}"] + noise[k]},
            )
            for k, cell in enumerate(results.cells)
        ]
        found = with_statistics(dataclasses.replace(results, cells=tuple(cells)))
        (line,) = axis_summary(found)
        return line, found

    line, found = summed(a_dense=0.3, a_bm25=0.1, b_dense=0.35, b_bm25=0.1)
    records = [each.found for each in found.best if each.axis == "retriever" and each.measure == HEADLINE]
    low, high = sorted(abs(each.standing("bm25").difference) for each in records)
    assert line == (
        f"Retrievers: dense is best with every chunker: bm25 is {_points(low)[0]} to {_points(high)[0]} points behind."
    )
    line, _ = summed(a_dense=0.3, a_bm25=0.1, b_dense=0.1, b_bm25=0.3)
    assert line == "Retrievers: which is best depends on the chunker."
    line, _ = summed(a_dense=0.3, a_bm25=0.1, b_dense=0.3, b_bm25=0.3)
    assert line == "Retrievers: dense may be best with every chunker."
    line, _ = summed(a_dense=0.3, a_bm25=0.3, b_dense=0.3, b_bm25=0.3)
    assert line in {f"Retrievers: {x} may be best with every chunker." for x in ("dense or bm25", "bm25 or dense")}
    lines = axis_sentences(found)
    assert [each.partition(" · minilm: ")[0] for each in lines] == ["Retrievers with a", "Retrievers with b"]


def test_what_limits_a_claim_about_retrievers_is_noted_where_they_are_all_that_is_compared() -> None:
    """Beside chunkers the note stands with their verdict."""
    few = simulated_results(names=("a",), edges=(0.0,), retrievers=("dense", "bm25"), queries=24, repositories=3)
    (line,) = axis_sentences(few)
    assert " Note: holds for these 3 repositories only" in line
    both = simulated_results(
        names=("a", "b"), edges=(0.0, 0.1), retrievers=("dense", "bm25"), queries=24, repositories=3
    )
    assert not any("Note: " in each for each in axis_sentences(both))


def test_two_datasets_are_named_where_something_is_said_of_each() -> None:
    """Retrievers are summed up by dataset, and a line of one names it; with one dataset there is no name."""
    results = _run(retrievers=("dense", "bm25"))
    (dataset,) = results.datasets
    cells = [
        dataclasses.replace(cell, key=cell.key._replace(dataset=name))
        for name in ("one", "two")
        for cell in results.cells
    ]
    asked = [dataclasses.replace(query, dataset=name) for name in ("one", "two") for query in results.queries]
    both = with_statistics(
        dataclasses.replace(
            results,
            cells=tuple(cells),
            queries=tuple(asked),
            datasets=tuple(dataclasses.replace(dataset, name=name) for name in ("one", "two")),
        )
    )
    assert [line.partition(": ")[0] for line in axis_summary(both)] == ["Retrievers on one", "Retrievers on two"]
    assert axis_summary(results)[0].startswith("Retrievers: ")
    assert axis_sentences(both)[0].startswith("Retrievers with one · a · minilm: ")
    assert axis_sentences(results)[0].startswith("Retrievers with a · minilm: ")
    costs = [
        dataclasses.replace(
            cell,
            cost=dataclasses.replace(cell.cost, index_bytes=0 if cell.key.chunker == "b" else 9),
            chunks=dataclasses.replace(cell.chunks, count=0 if cell.key.chunker == "b" else 9),
        )
        for cell in both.cells
    ]
    told = list(index_sentences(views(dataclasses.replace(both, cells=tuple(costs)))))
    assert [each.partition("Is an index")[0] for each in told] == ["one: ", "two: "]


def test_retrievers_without_vectors_are_not_said_to_have_an_embedder() -> None:
    """Where none of those compared uses it, it is no part of what they agree in."""
    results = simulated_results(names=("a",), edges=(0.0,), retrievers=("bm25", "dense"))
    (line,) = axis_sentences(results)
    assert line.startswith("Retrievers with a · minilm in naurc@4000tok (")
    cells = tuple(
        dataclasses.replace(cell, search=dataclasses.replace(cell.search, uses_vectors=False)) for cell in results.cells
    )
    (line,) = axis_sentences(with_statistics(dataclasses.replace(results, cells=cells)))
    assert line.startswith("Retrievers with a in naurc@4000tok (")
