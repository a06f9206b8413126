"""Results at their bounds: folders that cannot be written or are of earlier versions, and statistics by hand."""

from __future__ import annotations

import dataclasses
import errno
import itertools
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
from evaluation.results.facts import ChunkFacts
from evaluation.results.folder import check_output, read_results, write_results
from evaluation.results.merge import merge_results
from evaluation.results.types import CellRecord, HiddenPart, Results
from evaluation.types import CellKey

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


def pairs_of(results: Results, axis: str) -> set[frozenset[str]]:
    """Return who was compared with whom."""
    return {frozenset((each.found.a, each.found.b)) for each in results.comparisons if each.axis == axis}


def test_only_chunkers_are_compared_with_the_baseline() -> None:
    """Each with it, and no two others; embedders with each other, even where one has its name."""
    names = ("one", "two", "three")
    embedders = ("x", "two", "z")
    made = simulated_results(names=names, edges=(0.1, 0.0, 0.0), queries=12, embedders=embedders, baseline="two")
    assert pairs_of(made, "chunker") == {frozenset(("one", "two")), frozenset(("three", "two"))}
    assert pairs_of(made, "embedder") == {frozenset(pair) for pair in itertools.combinations(embedders, 2)}


def test_where_the_baseline_failed_all_are_compared() -> None:
    """There is nothing to compare them with."""
    failed = {"four": "out of memory"}
    made = simulated_results(
        names=("one", "two", "three"), edges=(0.1, 0.0, 0.0), queries=12, failed=failed, baseline="four"
    )
    assert len(pairs_of(made, "chunker")) == 3


def test_a_measure_that_one_cell_has_is_compared_with_nothing(results: Results) -> None:
    """As one on chunk ids, where the others are span runs; the cell keeps its mean."""
    first, second = results.cells
    fewer = {name: values for name, values in second.scores.items() if name != "ndcg@5"}
    made = with_statistics(dataclasses.replace(results, cells=(first, dataclasses.replace(second, scores=fewer))))
    assert "ndcg@5" in made.cells[0].measures
    for records in (made.comparisons, made.best):
        assert {each.measure for each in records} == set(results.config.measures) - {"ndcg@5"}


def test_span_runs_and_readers_are_no_part_of_the_axes(results: Results) -> None:
    """They come after the cells of the experiment, and no chunker, embedder or retriever is named after them."""
    first, second = results.cells
    dataset = first.key.dataset
    read = dataclasses.replace(first, key=first.key.read_by("lines"))
    spans = dataclasses.replace(first, key=CellKey.of_span_run(dataset, "mine"))
    assert (read.key.is_read, spans.key.is_span_run) == (True, True)
    merged = merge_results([dataclasses.replace(results, cells=(spans, read)), results])
    assert [cell.key for cell in merged.cells[:2]] == [first.key, second.key]
    assert {cell.key for cell in merged.cells[2:]} == {read.key, spans.key}
    assert merged.config == results.config
    alone = merge_results([dataclasses.replace(results, cells=(spans,))])
    assert [cell.key for cell in alone.cells] == [spans.key]
    assert alone.config.chunkers == results.config.chunkers
    other = dataclasses.replace(spans, key=spans.key._replace(dataset="other"))
    both = merge_results([dataclasses.replace(results, cells=(first, other))])
    assert both.config.datasets == (dataset, "other")


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
