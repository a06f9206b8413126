"""Results at their bounds: folders that cannot be written or are of earlier versions, and statistics by hand."""

from __future__ import annotations

import dataclasses
import errno
import functools
import itertools
import math
import os
import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from chunkers.errors import UsageError
from evaluation.measures import parse_measure
from evaluation.results.comparisons import margin_of, statistics_options, with_statistics
from evaluation.results.document import from_json, json_number, to_json
from evaluation.results.facts import ChunkFacts
from evaluation.results.folder import check_output, read_results, write_results
from evaluation.results.merge import merge_results
from evaluation.results.overall import overall
from evaluation.results.types import CellRecord, HiddenPart, Results

_CASE = runpy.run_path(str(Path(__file__).with_name("report_case.py")))
simulated_results: Callable[..., Results] = _CASE["simulated_results"]
HEADLINE: str = _CASE["HEADLINE"]


@pytest.fixture(scope="module")
def results() -> Results:
    """Return a run of two chunkers with twelve queries of eight repositories."""
    return simulated_results(names=("one", "two"), edges=(0.1, 0.0), queries=12)


@pytest.mark.parametrize(
    ("error", "space"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.EDQUOT, "full"), True),
        (OSError(errno.EFBIG, "full"), True),
        (OSError("without a number"), True),
        (OSError(errno.EACCES, "forbidden"), False),
    ],
)
def test_space_is_asked_for_where_it_may_be_missing(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, *, space: bool
) -> None:
    """A disk that is full, or an error that does not say what it is."""

    def refuse(*_: object, **__: object) -> str:
        raise error

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(UsageError, match="What was computed is in the cache") as caught:
        write_results(results, tmp_path / "out")
    assert ("free some space, or " in str(caught.value)) == space
    assert (error.strerror or "without a number") in str(caught.value)


def test_a_place_that_takes_no_files_is_refused_before_any_work(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files must be both written and found in it; a name that no disk takes is no place."""
    with pytest.raises(UsageError, match="cannot be written: name another folder"):
        check_output(tmp_path / ("x" * 300), config=results.config)
    with pytest.raises(UsageError, match="is not UTF-8"):
        check_output(tmp_path / "\udc80", config=results.config)
    for missing in (os.W_OK, os.X_OK):
        monkeypatch.setattr(os, "access", lambda _, mode, missing=missing: not mode & missing)
        with pytest.raises(UsageError, match="cannot be written: name another folder"):
            check_output(tmp_path / "new", config=results.config)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"config": {}}'])
def test_a_folder_of_an_unreadable_or_other_run_is_left_alone(results: Results, tmp_path: Path, text: str) -> None:
    """What is in it is somebody's."""
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(UsageError, match=r"is not readable: move|another experiment"):
        check_output(tmp_path, config=results.config)


def test_results_json_is_written_last(results: Results, tmp_path: Path) -> None:
    """Where a table cannot be put in its place, there is no results.json that speaks of it."""
    (tmp_path / "texts.parquet").mkdir()
    (tmp_path / "texts.parquet" / "file").write_text("")
    with pytest.raises(UsageError, match="the results cannot be written"):
        write_results(results, tmp_path)
    assert not (tmp_path / "results.json").exists()
    assert not list(tmp_path.glob(".draft-*"))


def test_folders_of_earlier_versions_are_read(results: Results, tmp_path: Path) -> None:
    """Without kinds of queries, tokens of results, hidden parts, whole files and cuts: these are then unknown."""
    write_results(results, tmp_path)
    for name, columns in (("queries", ["kind", "category"]), ("hits", ["tokens"]), ("texts", ["hidden"])):
        file = tmp_path / f"{name}.parquet"
        pq.write_table(pq.read_table(file).drop_columns(columns), file)
    for name in ("files", "cuts"):
        (tmp_path / f"{name}.parquet").unlink()
    read = read_results(tmp_path)
    assert {(query.kind, query.category) for query in read.queries} == {("", "")}
    (hit, *_) = next(iter(read.cells[0].hits.values()))
    (was, *_) = next(iter(results.cells[0].hits.values()))
    assert hit == dataclasses.replace(was, tokens=None)
    assert (read.files, read.cuts, read.hidden) == ({}, {}, {})


def test_hidden_parts_belong_to_their_dataset(results: Results, tmp_path: Path) -> None:
    """Several of one text, in their order, and those of another dataset apart."""
    (dataset,) = results.datasets
    other = dataclasses.replace(dataset, name="other")
    first, second = sorted(results.texts)[:2]
    hidden = {
        (dataset.name, first): (HiddenPart(1, 2), HiddenPart(4, 6)),
        ("other", first): (HiddenPart(0, 3),),
        (dataset.name, second): (HiddenPart(2, 9),),
    }
    write_results(dataclasses.replace(results, datasets=(dataset, other), hidden=hidden), tmp_path)
    assert read_results(tmp_path).hidden == hidden


@pytest.mark.parametrize("missing", ["queries", "scores", "curves", "hits", "texts"])
def test_a_table_that_is_gone_is_named(results: Results, tmp_path: Path, missing: str) -> None:
    """The folder is not complete."""
    write_results(results, tmp_path)
    (tmp_path / f"{missing}.parquet").unlink()
    with pytest.raises(UsageError, match=rf"is not complete \(FileNotFoundError: {missing}.parquet is not there\)"):
        read_results(tmp_path)


def test_cells_that_found_nothing_have_empty_rankings(results: Results, tmp_path: Path) -> None:
    """Files of no bytes are read as no rankings and no judgements; grades are whole numbers."""
    nothing = dataclasses.replace(results.cells[0], run={}, qrels={})
    write_results(dataclasses.replace(results, cells=(nothing, results.cells[1])), tmp_path)
    for folder in ("runs", "qrels"):
        (tmp_path / folder / f"{nothing.slug}.{folder[: 3 if folder == 'runs' else 5]}").write_text("")
    first, second = read_results(tmp_path, rankings=True).cells
    assert (first.run, first.qrels) == ({}, {})
    assert second.run
    assert {type(grade) for row in second.qrels.values() for grade in row.values()} == {int}


def test_intervals_end_where_the_measure_does(results: Results) -> None:
    """A share is never below 0 or above 1, whatever Student's t says of few queries; its mean is by both weights."""
    made = results
    clusters = made.clusters_of(made.cells[0].key.dataset)
    low = np.array([0.5] + [0.0] * 11)
    cells = tuple(
        dataclasses.replace(cell, scores={HEADLINE: values})
        for cell, values in zip(made.cells, (low, 1 - low), strict=True)
    )
    for weight, other in (("query", "repository"), ("repository", "query")):
        config = made.config.model_copy(update={"weight": weight})
        found = with_statistics(dataclasses.replace(made, cells=cells, config=config)).cells
        near_zero, near_one = (cell.measures[HEADLINE] for cell in found)
        assert near_zero.low is not None
        assert near_one.high is not None
        assert near_zero.low >= 0
        assert near_one.high <= 1
        assert (near_zero.scored, near_zero.undefined) == (12, 0)
        means = {
            "query": float(low.mean()),
            "repository": float(np.mean([low[[c == name for c in clusters]].mean() for name in sorted(set(clusters))])),
        }
        assert near_zero.mean == pytest.approx(means[weight])
        assert near_zero.other_mean == pytest.approx(means[other])


def test_a_margin_is_points_of_a_share_or_a_part_of_the_mean(results: Results) -> None:
    """Whatever the sign of the mean; and procedures are told which way is better."""
    config = results.config.model_copy(update={"margin": 2.0})
    assert margin_of(parse_measure("ndcg@5"), config, 0.4) == pytest.approx(0.02)
    assert margin_of(parse_measure("tokens_behind@5"), config, 300.0) == pytest.approx(6.0)
    assert margin_of(parse_measure("tokens_behind@5"), config, -300.0) == pytest.approx(6.0)
    better = {}
    for name in ("ndcg@5", "split_rate"):
        better[name] = statistics_options(parse_measure(name), config)["higher_is_better"]
    assert better == {"ndcg@5": True, "split_rate": False}


def test_only_chunkers_are_compared_with_the_baseline() -> None:
    """Where there is one, each pair has it; embedders are compared with each other."""
    names = ("one", "two", "three")
    three = {"queries": 12, "embedders": ("x", "y", "z")}
    made = simulated_results(names=names, edges=(0.1, 0.0, 0.0), baseline="two", **three)
    pairs: dict[str, set[frozenset[str]]] = {}
    for record in made.comparisons:
        pairs.setdefault(record.axis, set()).add(frozenset((record.found.a, record.found.b)))
    assert pairs["chunker"] == {frozenset(("one", "two")), frozenset(("three", "two"))}
    assert pairs["embedder"] == {frozenset(pair) for pair in itertools.combinations("xyz", 2)}


@functools.cache
def settings(headline: str = HEADLINE) -> Results:
    """Return results of two chunkers in two settings in which the first is far higher."""
    made = simulated_results(
        names=("one", "two"), edges=(0.3, 0.0), embedders=("x", "y"), headline=headline, queries=12
    )
    values = np.linspace(0.3, 0.6, len(made.queries))
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, headline: values + 0.3 * (cell.key.chunker == "one")})
        for cell in made.cells
    ]
    return dataclasses.replace(made, cells=tuple(cells))


@pytest.mark.parametrize(("headline", "best"), [(HEADLINE, "one"), ("split_rate", "two")])
def test_the_best_over_all_settings_is_the_better_one(headline: str, best: str) -> None:
    """Where less is better, the lower; the setting names its embedder where it is used."""
    found = overall(settings(headline))
    assert found is not None
    assert found.may_be_best == (best,)
    assert [each.setting.embedder for each in found.settings] == ["x", "y"]


@pytest.mark.parametrize("headline", ["tokens_behind@5", "tokens_to_recall(0.5)"])
def test_a_measure_without_a_better_end_says_nothing_over_all(headline: str) -> None:
    """Nor does one that has a median in place of a mean."""
    assert overall(settings(headline)) is None


def test_a_setting_without_a_score_is_none() -> None:
    """Cells that lack the headline leave their group out; one group says nothing."""
    made = settings()
    lacking = [
        dataclasses.replace(cell, scores={}) if (cell.key.chunker, cell.key.embedder) == ("one", "y") else cell
        for cell in made.cells
    ]
    assert overall(dataclasses.replace(made, cells=tuple(lacking))) is None


def test_settings_of_different_datasets_have_no_change() -> None:
    """A difference changes between settings of the same queries only; all settings may still agree."""
    made = simulated_results(names=("one", "two"), edges=(0.3, 0.0), queries=12)
    there = tuple(dataclasses.replace(cell, key=cell.key._replace(dataset="other")) for cell in made.cells)
    queries = tuple(dataclasses.replace(query, dataset="other") for query in made.queries)
    both = dataclasses.replace(made, cells=(*made.cells, *there), queries=(*made.queries, *queries))
    found = overall(both)
    assert found is not None
    assert len(found.settings) == 2
    assert found.interaction is None
    document = to_json(dataclasses.replace(both, overall=found))
    assert document["overall"]["interaction"] is None
    assert from_json(document, source="here").overall == found


def test_an_undefined_number_is_null_and_again_undefined() -> None:
    """In a change between settings too; any other value is itself."""
    found = overall(settings())
    assert found is not None
    assert found.interaction is not None
    odd = dataclasses.replace(found, interaction=dataclasses.replace(found.interaction, in_first=math.nan))
    made = dataclasses.replace(settings(), overall=odd)
    document = to_json(made)
    assert document["overall"]["interaction"]["in_first"] is None
    again = from_json(document, source="here").overall
    assert again is not None
    assert again.interaction is not None
    assert math.isnan(again.interaction.in_first)
    assert again.interaction.in_second == found.interaction.in_second
    for value in (0.0, 1, "nan", None, math.inf):
        assert json_number(value) == value
    assert json_number(math.nan) is None


def test_runs_that_were_measured_otherwise_are_not_merged(results: Results) -> None:
    """Other measures, other budgets, another unit of budgets."""
    config = results.config
    for other, words in (
        (dataclasses.replace(results, config=config.model_copy(update={"measures": config.measures[:-1]})), "measures"),
        (dataclasses.replace(results, config=config.model_copy(update={"budgets": (1, 2)})), "budgets"),
        (dataclasses.replace(results, budget_unit="lines"), "budgets"),
    ):
        for order in ([results, other], [other, results]):
            with pytest.raises(UsageError, match=f"the runs have different {words}"):
                merge_results(order)
    turned = config.model_copy(update={"measures": config.measures[::-1]})
    assert merge_results([results, dataclasses.replace(results, config=turned)]).config == config


def test_a_cell_that_failed_later_does_not_undo_one_that_is_done(results: Results) -> None:
    """Of two that are done, the first is kept."""
    first, second = results.cells
    failed = CellRecord(first.key, "failed", "out of memory")
    merged = merge_results([results, dataclasses.replace(results, cells=(failed, second))])
    assert merged.cells[0] is first
    assert merged.cells[1] is second


def test_a_few_files_that_failed_are_named() -> None:
    """Three of them, and how many more there are."""
    for count, words in (
        (0, ""),
        (1, "f0 (why)"),
        (3, "f0 (why), f1 (why), f2 (why)"),
        (4, "f0 (why), f1 (why), f2 (why), 1 more"),
        (2000, "f0 (why), f1 (why), f2 (why), 1,997 more"),
    ):
        assert ChunkFacts(failed_files={f"f{number}": "why" for number in range(count)}).failed_words == words
