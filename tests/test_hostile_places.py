"""Somebody's own files where results go: they are neither replaced nor removed, whatever they are called."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from conftest import Command
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.experiment.store import Store
from evaluation.recommend.build import check_recommendation
from evaluation.report.build import check_report, write_report
from evaluation.report.page import page
from evaluation.results.folder import check_output, write_results
from evaluation.results.types import Results


@pytest.fixture(scope="module")
def results() -> Results:
    """Return a run of two chunkers."""
    return simulated_results(names=("one", "two"), edges=(0.1, 0.0), queries=12)


@pytest.mark.parametrize(
    "mine",
    [
        "runs/bm25.run",
        "runs/events/log.txt",
        "qrels/test.qrels",
        "qrels/notes",
        ".draft-thesis/one.tex",
        "runs/x__y.run",
    ],
)
def test_folders_of_these_names_may_be_somebody_elses(results: Results, tmp_path: Path, mine: str) -> None:
    """Before a run, and beside the results of an earlier one."""
    file = tmp_path / mine
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        check_output(tmp_path, config=results.config)
    results_here = tmp_path / "results"
    write_results(results, results_here)
    beside = results_here / mine
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text("mine")
    if mine.startswith(".draft"):
        write_results(results, results_here)
        assert beside.read_text() == "mine"
    else:
        with pytest.raises(UsageError, match="holds other files"):
            check_output(results_here, config=results.config)


def test_what_a_killed_run_left_is_replaced(results: Results, tmp_path: Path) -> None:
    """Rankings, tables and a draft with all of them; long names of cells end in a hash."""
    long = simulated_results(names=("one", "x" * 300), edges=(0.1, 0.0), queries=12)
    for made in (results, long):
        folder = tmp_path / str(len(made.config.chunkers[-1]) + len(made.cells[-1].slug))
        write_results(made, folder)
        check_output(folder, config=made.config)
        draft = folder / ".draft-abcdefgh"
        draft.mkdir()
        for name in ("runs", "results.json"):
            (folder / name).rename(draft / name)
        (folder / "scores.parquet").unlink()
        check_output(folder, config=made.config)
        write_results(made, folder)
        assert not draft.exists()


@pytest.mark.parametrize("name", ["summary.md", "report.html", "table.csv"])
def test_a_report_replaces_only_a_report(results: Results, tmp_path: Path, name: str) -> None:
    """A file of the same name is refused; an earlier report is made again."""
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"{name} is no report"):
        check_report(tmp_path)
    (tmp_path / name).unlink()
    check_report(tmp_path)
    write_report(results, tmp_path)
    check_report(tmp_path)


@pytest.mark.parametrize("name", ["summary.md", "report.html"])
def test_the_command_leaves_them(chunkbench: Command, results: Results, tmp_path: Path, name: str) -> None:
    """And says what is in the way."""
    write_results(results, tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("mine")
    done = chunkbench("report", tmp_path / "run", "--out", tmp_path / "mine")
    assert (done.code, (tmp_path / "mine" / name).read_text()) == (2, "mine")
    assert done.err.count("\n") == 1
    assert chunkbench("report", tmp_path / "run", "--out", tmp_path / "new").code == 0
    assert chunkbench("report", tmp_path / "run", "--out", tmp_path / "new").code == 0


@pytest.mark.parametrize("name", ["recommend.json", "recommend.html"])
def test_a_recommendation_replaces_only_one(chunkbench: Command, tmp_path: Path, name: str) -> None:
    """It is refused before anything is computed, and so is a file in the folder's place."""
    (tmp_path / name).write_text("mine")
    for place in (tmp_path, tmp_path / name):
        done = chunkbench("recommend", tmp_path / "gone", "--out", place)
        assert (done.code, (tmp_path / name).read_text()) == (2, "mine")
        assert name in done.err
    (tmp_path / name).unlink()
    check_recommendation(tmp_path)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400"])
def test_an_edited_number_that_is_none_is_one_line(
    chunkbench: Command, results: Results, tmp_path: Path, number: str
) -> None:
    """Where reports show it or not: merging writes it again."""
    write_results(results, tmp_path)
    marker = tmp_path / "results.json"
    found = json.loads(marker.read_text("utf-8"))
    found["cells"][0]["seconds"]["score"] = "HERE"
    marker.write_text(json.dumps(found).replace('"HERE"', number), "utf-8")
    done = chunkbench("report", tmp_path, "--json")
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "details",
    [
        {"languages": {"python": {"code_share": None}}},
        {"languages": {"python": {"code_share": "most"}}},
        {"rows": 1, "skipped": {"too long": "many"}},
        {"rows": 1, "skipped": {"too long": None, "empty": 3}},
        {"followed": {"moved": "x"}, "to_check": 3},
        {"skipped": [1], "followed": 2},
    ],
)
def test_what_a_dataset_says_of_itself_may_have_any_shape(results: Results, details: dict[str, object]) -> None:
    """A loader of one's own may mean something else by these names, and a results folder may be edited."""
    (dataset,) = results.datasets
    told = dataclasses.replace(results, datasets=(dataclasses.replace(dataset, details=details),))
    assert page(told)


def test_pruning_a_cache_leaves_what_was_never_in_it(tmp_path: Path) -> None:
    """The folder of the cache may have been somebody's, with stages of another kind."""
    store = Store(tmp_path)
    for name in ("alpha/data", f"chunk/{'a' * 32}"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("mine")
    assert store.spoiled() == [tmp_path / "chunk" / ("a" * 32)]
